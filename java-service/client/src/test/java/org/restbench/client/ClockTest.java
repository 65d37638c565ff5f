package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.client.Ways.until;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The clock of the system. */
class ClockTest {
    private static final int TIMES = 20_000;

    /** Who asks may hold a lock. */
    @Test
    void whatIsDueAtOnceDoesNotRunOnTheThreadThatAsks() throws InterruptedException {
        Set<Thread> ranOn = ConcurrentHashMap.newKeySet();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < TIMES; i++) {
            Clock.SYSTEM.after(0, () -> {
                ranOn.add(Thread.currentThread());
                ran.incrementAndGet();
            });
        }
        until(() -> ran.get() == TIMES, "all that is due");
        assertThat(ranOn).isNotEmpty().doesNotContain(Thread.currentThread());
    }
}
