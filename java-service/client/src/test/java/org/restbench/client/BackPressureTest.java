package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.client.Ways.until;

import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.client.Ways.Way;

/** How far a batch runs ahead of the one that takes, whichever stage stands still. */
class BackPressureTest {
    private static final int CALLS = 500;

    static Stream<Way> ways() {
        return Ways.random(5, 2).filter(way -> !way.name().equals("sequential"));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void isBoundedWithAnyStageStopped(Way way) throws InterruptedException {
        for (Stage stopped : Stage.values()) {
            CountDownLatch gate = new CountDownLatch(1);
            AtomicLong pulled = new AtomicLong();
            AtomicLongArray begun = new AtomicLongArray(Stage.values().length);
            FakeExchange service = new FakeExchange(exchange -> {
                begun.incrementAndGet(Stage.C.ordinal());
                exchange.releaseIf(stopped != Stage.C || gate.getCount() == 0);
            });
            Codec<Integer, Integer> codec = new Ways.Numbers() {
                @Override
                public byte[] encode(Integer input, Loop loop) {
                    begin(Stage.S, stopped, gate, begun);
                    return super.encode(input, loop);
                }

                @Override
                public Integer decode(Answer answer, Loop loop) throws ServiceRefused {
                    begin(Stage.D, stopped, gate, begun);
                    return super.decode(answer, loop);
                }
            };
            Job.Processor<Integer, Integer, Integer> process = (index, input, output) -> {
                begin(Stage.P, stopped, gate, begun);
                return output;
            };
            try (CallingStrategy strategy = way.strategy();
                    Calls<Integer> calls =
                            strategy.start(inputs(pulled), new Job<>(codec, service, process), way.limits())) {
                settled(pulled);
                assertThat(pulled.get()).isPositive().isLessThanOrEqualTo(mostBefore(stopped, way));
                // a call that has left a buffer counts a moment later
                until(() -> buffersAreBounded(begun, way), "bounded buffers with " + stopped + " stopped: " + begun);
                gate.countDown();
                service.releaseAll();
                settled(pulled);
                assertThat(pulled.get()).as("never taken").isLessThanOrEqualTo(way.mostAhead());
                for (int taken = 1; taken <= CALLS; taken++) {
                    assertThat(calls.take()).isInstanceOf(Outcome.Done.class);
                    assertThat(pulled.get() - taken).isLessThanOrEqualTo(way.mostAhead());
                }
                assertThat(calls.take()).isNull();
                assertThat(calls.totals().peakInFlight())
                        .isLessThanOrEqualTo(way.limits().inFlight());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void isBoundedWhileCallsWaitToBeSentAgain(Way way) throws InterruptedException {
        AtomicLong pulled = new AtomicLong();
        FakeExchange busy = new FakeExchange(exchange -> exchange.refuse(0, "008"));
        try (CallingStrategy strategy = way.strategy(new FakeClock());
                Calls<Integer> calls = strategy.start(
                        inputs(pulled), Ways.job(busy), way.limits().withRetries(Retries.SAFE))) {
            until(() -> calls.totals().retries() > 0, "a call that waits");
            settled(pulled);
            assertThat(pulled.get()).isPositive().isLessThanOrEqualTo(way.mostAhead());
        }
    }

    /** Counts what was pulled. */
    private static Iterator<Integer> inputs(AtomicLong pulled) {
        return IntStream.range(0, CALLS).peek(i -> pulled.incrementAndGet()).iterator();
    }

    /** With a stage stopped: what threads and places hold, and the buffers up to it are full. */
    private static int mostBefore(Stage stopped, Way way) {
        int buffers = hasBuffers(way) ? stopped.ordinal() : 4;
        return way.mostAhead() - (4 - buffers) * way.limits().queue();
    }

    /** A virtual thread's call waits on it. */
    private static boolean hasBuffers(Way way) {
        return !way.name().equals("virtual-threads");
    }

    /** Between the begins of two stages: what threads or places of the first hold, and a full buffer. */
    private static boolean buffersAreBounded(AtomicLongArray begun, Way way) {
        int queue = way.limits().queue();
        int threads = way.mostAhead() - way.limits().inFlight() - 4 * queue;
        for (int stage = Stage.S.ordinal(); stage < Stage.P.ordinal() && hasBuffers(way); stage++) {
            int held = stage == Stage.C.ordinal() ? way.limits().inFlight() : threads;
            if (begun.get(stage) - begun.get(stage + 1) > held + queue) {
                return false;
            }
        }
        return true;
    }

    private static void begin(Stage stage, Stage stopped, CountDownLatch gate, AtomicLongArray begun) {
        begun.incrementAndGet(stage.ordinal());
        try {
            if (stage == stopped) {
                gate.await();
            }
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    /** Until nothing was pulled for a while: what the bound is about is where it stands then. */
    private static void settled(AtomicLong pulled) throws InterruptedException {
        until(() -> pulled.get() > 0, "the first input");
        long before;
        do {
            before = pulled.get();
            Thread.sleep(20);
        } while (before != pulled.get());
    }
}
