package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.execution.AdaptiveStrategy.RecentConcurrency.PERIOD_NANOS;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.restbench.execution.AdaptiveStrategy.RecentConcurrency;

/** Who was here is remembered for one period at least, and for two at most. */
class RecentConcurrencyTest {
    private final AtomicLong nanos = new AtomicLong(-5); // a clock of nanoseconds may well be negative
    private final RecentConcurrency concurrency = new RecentConcurrency(nanos::get);

    @Test
    void those_who_are_here_are_counted() {
        concurrency.arrived();
        concurrency.arrived();
        concurrency.left();
        assertThat(concurrency.recently()).isEqualTo(2);
    }

    @Test
    void who_left_is_known_for_a_period() {
        twoAtOnce();
        pass(PERIOD_NANOS);
        assertThat(concurrency.recently()).isEqualTo(2);
        pass(PERIOD_NANOS - 1);
        assertThat(concurrency.recently()).isEqualTo(2);
    }

    @Test
    void who_left_is_forgotten_after_two() {
        twoAtOnce();
        pass(PERIOD_NANOS);
        concurrency.arrived();
        concurrency.left();
        pass(PERIOD_NANOS);
        assertThat(concurrency.recently()).isEqualTo(1);
    }

    @Test
    void looks_in_between_do_not_keep_who_left() {
        twoAtOnce();
        pass(PERIOD_NANOS * 19 / 10);
        assertThat(concurrency.recently()).isEqualTo(2);
        pass(PERIOD_NANOS / 10);
        assertThat(concurrency.recently()).isZero();
    }

    @Test
    void a_long_silence_is_two_periods_and_who_stays_is_never_forgotten() {
        twoAtOnce();
        concurrency.arrived();
        pass(7 * PERIOD_NANOS);
        assertThat(concurrency.recently()).isEqualTo(1);
        pass(PERIOD_NANOS);
        assertThat(concurrency.recently()).isEqualTo(1);
    }

    @Test
    void none_is_lost_while_many_come_and_go_and_periods_end() throws Exception {
        int many = 8;
        CyclicBarrier all = new CyclicBarrier(many, () -> {
            assertThat(concurrency.recently()).isEqualTo(many);
            pass(3 * PERIOD_NANOS);
        });
        ExecutorService threads = Executors.newFixedThreadPool(many);
        try {
            List<Future<?>> ended = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                ended.add(threads.submit(() -> comeAndGo(all)));
            }
            for (Future<?> each : ended) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        pass(2 * PERIOD_NANOS);
        assertThat(concurrency.recently()).isZero();
    }

    private Void comeAndGo(CyclicBarrier all) throws Exception {
        for (int i = 0; i < 300; i++) {
            concurrency.arrived();
            all.await();
            concurrency.left();
            pass(PERIOD_NANOS / 3);
        }
        return null;
    }

    private void twoAtOnce() {
        concurrency.arrived();
        concurrency.arrived();
        concurrency.left();
        concurrency.left();
    }

    private void pass(long time) {
        nanos.addAndGet(time);
    }
}
