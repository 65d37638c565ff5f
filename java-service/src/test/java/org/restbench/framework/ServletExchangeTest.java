package org.restbench.framework;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.AsyncContext;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServletExchangeTest {
    private final List<String> done = new ArrayList<>();

    private static AsyncContext container(RuntimeException refusal) {
        return (AsyncContext) Proxy.newProxyInstance(
                AsyncContext.class.getClassLoader(), new Class<?>[] {AsyncContext.class}, (self, method, given) -> {
                    if (refusal != null) {
                        throw refusal;
                    }
                    ((Runnable) given[0]).run();
                    return null;
                });
    }

    private void start(RuntimeException refusal) {
        ServletExchange.start(container(refusal), () -> done.add("task"), () -> done.add("over"));
    }

    /** A large answer of a request that had been ended kept its place among those in flight, for ever. */
    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, RejectedExecutionException.class})
    void what_a_request_holds_is_given_back_where_the_container_has_ended_it(Class<? extends RuntimeException> refusal)
            throws ReflectiveOperationException {
        start(refusal.getConstructor(String.class).newInstance("ended"));
        assertThat(done).containsExactly("over");
    }

    @Test
    void else_it_is_given_back_by_whoever_sends() {
        start(null);
        assertThat(done).containsExactly("task");
    }

    /** It was ended twice, the second time while Tomcat used its objects for the next request. */
    @Test
    void a_request_is_ended_once_whoever_ends_it_and_not_while_its_answer_is_sent() throws InterruptedException {
        AsyncContext context = (AsyncContext) Proxy.newProxyInstance(
                AsyncContext.class.getClassLoader(), new Class<?>[] {AsyncContext.class}, (self, method, given) -> {
                    done.add(method.getName());
                    return null;
                });
        ServletExchange.Later later = new ServletExchange.Later(context);
        Thread container = new Thread(() -> later.onError(null));
        synchronized (later) { // as who sends it does
            container.start();
            while (container.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            done.add("sent");
            later.complete();
        }
        container.join();
        assertThat(done).containsExactly("sent", "complete");
        ServletExchange.Later ended = new ServletExchange.Later(context);
        ended.onComplete(null);
        ended.complete();
        assertThat(done).hasSize(2);
    }
}
