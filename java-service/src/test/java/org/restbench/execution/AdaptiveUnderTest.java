package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.restbench.affinity.BackgroundThreads;

/** The strategy that chooses, on three cores, and callers to call it; what is small and long by its costs. */
@Timeout(60)
abstract class AdaptiveUnderTest {
    /** By {@link StrategiesOf#COSTS}. */
    static final long SMALL = 249_999;

    static final long WORTH_A_TURN = 250_000;
    static final long NOT_WORTH_HELP = 1_499_999;
    static final long WORTH_HELP = 1_500_000;
    static final int BODY_WORTH_A_TURN_BYTES = 25_000;
    static final long NOT_LONG = 9_999_999;
    static final long LONG = 10_000_000;
    static final int LONG_BODY_BYTES = 1_000_000;

    static final int CORES = 3;

    final ExecutorService callers = Executors.newCachedThreadPool();
    final AtomicLong nanos = new AtomicLong();
    final AdaptiveStrategy adaptive = onCores(CORES);

    final AdaptiveStrategy onCores(int cores) {
        BackgroundThreads background = new BackgroundThreads(AdaptiveStrategy.WORKERS);
        return new AdaptiveStrategy(() -> StrategiesOf.COSTS, cores, background, nanos::get);
    }

    @AfterEach
    void close() {
        adaptive.close();
        callers.shutdown();
    }

    final CompletableFuture<byte[]> start(Observed observed) {
        return CompletableFuture.supplyAsync(() -> observed.under(adaptive), callers);
    }

    /** More small requests at once than there are cores: from now on they are expected back. */
    final void crowd() throws Exception {
        List<Observed> many = Stream.generate(() -> new Observed(1, 1, 2, SMALL))
                .limit(CORES + 1)
                .toList();
        List<CompletableFuture<byte[]>> answers = many.stream().map(this::start).toList();
        await(() -> many.stream().noneMatch(it -> it.pieces.isEmpty()));
        many.forEach(Observed::release);
        for (CompletableFuture<byte[]> answer : answers) {
            answer.get();
        }
    }

    /** Who is not in flight any more is no longer expected back. */
    final void laterOn() {
        nanos.addAndGet(2 * Concurrency.PERIOD_NANOS);
    }

    static void await(BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - start).as("ns of waiting").isLessThan(TimeUnit.SECONDS.toNanos(50));
            Thread.onSpinWait();
        }
    }
}
