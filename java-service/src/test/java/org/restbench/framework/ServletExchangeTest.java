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

    private static AsyncContext container(Throwable refusal, List<Runnable> queue) {
        return (AsyncContext) Proxy.newProxyInstance(
                AsyncContext.class.getClassLoader(), new Class<?>[] {AsyncContext.class}, (self, method, given) -> {
                    queue.add((Runnable) given[0]);
                    if (refusal != null) {
                        throw refusal;
                    }
                    return null;
                });
    }

    /** What the container has queued runs afterwards, where it is to. */
    private void start(Throwable refusal, boolean runsQueued) {
        List<Runnable> queue = new ArrayList<>();
        ServletExchange.start(
                container(refusal, queue),
                () -> done.add("task"),
                () -> done.add("over"),
                none -> done.add("no thread"));
        if (runsQueued) {
            queue.forEach(Runnable::run);
        }
    }

    /** A large answer of a request that had been ended kept its place among those in flight, for ever. */
    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, RejectedExecutionException.class})
    void what_a_request_holds_is_given_back_where_the_container_has_ended_it(Class<? extends RuntimeException> refusal)
            throws ReflectiveOperationException {
        start(refusal.getConstructor(String.class).newInstance("ended"), false);
        assertThat(done).containsExactly("over");
    }

    @Test
    void else_it_is_given_back_by_whoever_sends() {
        start(null, true);
        assertThat(done).containsExactly("task");
    }

    /** It was swallowed: the client waited for ever. Jetty has queued the task all the same, Tomcat has not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void where_the_system_makes_no_thread_the_current_one_answers_and_no_other(boolean isQueued) {
        start(new OutOfMemoryError("unable to create native thread"), isQueued);
        assertThat(done).containsExactly("no thread");
    }

    /** It was ended twice, the second time while Tomcat used its objects for the next request. */
    @Test
    void a_request_is_ended_once_whoever_ends_it_and_not_while_its_answer_is_sent() throws InterruptedException {
        AsyncContext context = (AsyncContext) Proxy.newProxyInstance(
                AsyncContext.class.getClassLoader(), new Class<?>[] {AsyncContext.class}, (self, method, given) -> {
                    done.add(method.getName());
                    return null;
                });
        ServletExchange.AsyncAnswer later = new ServletExchange.AsyncAnswer(context);
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
        ServletExchange.AsyncAnswer ended = new ServletExchange.AsyncAnswer(context);
        ended.onComplete(null);
        ended.complete();
        assertThat(done).hasSize(2);
    }
}
