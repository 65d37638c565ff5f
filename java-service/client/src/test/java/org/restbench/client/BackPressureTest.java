package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.client.Ways.until;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.client.Calls.Totals;
import org.restbench.client.Ways.Way;

/** How far a batch runs ahead of the one that takes, whichever stage stands still. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
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
            FakeExchange service =
                    new FakeExchange(exchange -> exchange.releaseIf(stopped != Stage.C || gate.getCount() == 0));
            Codec<Integer, Integer> codec = new Ways.Numbers() {
                @Override
                public byte[] encode(Integer input, Loop loop) {
                    pass(stopped == Stage.S, gate);
                    return super.encode(input, loop);
                }

                @Override
                public Integer decode(Answer answer, Loop loop) throws ServiceRefused {
                    pass(stopped == Stage.D, gate);
                    return super.decode(answer, loop);
                }
            };
            Job.Processor<Integer, Integer, Integer> process = (index, input, output) -> {
                pass(stopped == Stage.P, gate);
                return output;
            };
            try (CallingStrategy strategy = way.strategy();
                    Calls<Integer> calls = strategy.start(
                            Ways.counting(IntStream.range(0, CALLS).iterator(), pulled),
                            new Job<>(codec, service, process),
                            way.limits())) {
                settled(pulled);
                assertThat(pulled.get()).isPositive().isLessThanOrEqualTo(mostBefore(stopped, way));
                gate.countDown();
                service.releaseAll();
                settled(pulled);
                assertThat(pulled.get()).as("never taken").isLessThanOrEqualTo(way.mostAhead());
                for (int taken = 1; taken <= CALLS; taken++) {
                    assertThat(calls.take()).isInstanceOf(Outcome.Done.class);
                    assertThat(pulled.get() - taken).isLessThanOrEqualTo(way.mostAhead());
                }
                assertThat(calls.take()).isNull();
                Totals totals = calls.totals();
                assertThat(totals.peakInFlight())
                        .isLessThanOrEqualTo(way.limits().inFlight());
                if (!way.limits().ordered()) {
                    assertThat(totals.peakQueued().values())
                            .allMatch(peak -> peak <= way.limits().queue());
                }
            }
        }
    }

    /** With a stage stopped: what threads and places hold, and the buffers up to it are full. */
    private static int mostBefore(Stage stopped, Way way) {
        boolean hasBuffers = !way.name().equals("virtual-threads"); // its calls wait on threads of their own
        int buffers = hasBuffers ? stopped.ordinal() : 4;
        return way.mostAhead() - (4 - buffers) * way.limits().queue();
    }

    private static void pass(boolean isStopped, CountDownLatch gate) {
        try {
            if (isStopped) {
                gate.await();
            }
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
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
