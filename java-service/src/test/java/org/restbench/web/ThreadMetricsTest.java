package org.restbench.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.Thread.State;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The JVM's threads by their states, as {@code /metrics} tells them. */
class ThreadMetricsTest {
    private static final int SEVERAL = 300;

    @Test
    void threads_are_counted_by_their_states() throws InterruptedException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new ThreadMetrics().bindTo(registry);
        double before = waiting(registry);
        List<Thread> parked = parked();
        try {
            assertThat(waiting(registry) - before).isBetween(SEVERAL - 20.0, SEVERAL + 20.0);
        } finally {
            for (Thread each : parked) {
                each.interrupt();
                each.join();
            }
        }
        assertThat(waiting(registry) - before).isBetween(-20.0, 20.0);
        assertThat(registry.get("jvm.threads.peak").gauge().value()).isGreaterThanOrEqualTo(SEVERAL);
        assertThat(registry.get("jvm.threads.live").gauge().value()).isPositive();
    }

    @Test
    void every_state_is_told_and_this_thread_runs() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new ThreadMetrics().bindTo(registry);
        List<String> told = registry.get("jvm.threads.states").gauges().stream()
                .map(it -> it.getId().getTag("state"))
                .toList();
        assertThat(told)
                .containsExactlyInAnyOrder("new", "runnable", "blocked", "waiting", "timed-waiting", "terminated");
        assertThat(ThreadMetrics.count(State.RUNNABLE)).isPositive();
    }

    private static double waiting(SimpleMeterRegistry registry) {
        return registry.get("jvm.threads.states")
                .tag("state", "waiting")
                .gauge()
                .value();
    }

    private static List<Thread> parked() throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < SEVERAL; i++) {
            Thread thread = new Thread(ThreadMetricsTest::parkUntilInterrupted);
            thread.start();
            all.add(thread);
        }
        for (Thread each : all) {
            while (each.getState() != State.WAITING) {
                Thread.sleep(1);
            }
        }
        return all;
    }

    private static void parkUntilInterrupted() {
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
        }
    }
}
