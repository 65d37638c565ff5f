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
}
