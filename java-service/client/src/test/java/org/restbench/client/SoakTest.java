package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.BitSet;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.client.strategy.Strategies;

/** Many calls with a fault in one of ten: none is lost, doubled, or another's. {@code soak.calls}: 20 000, or more. */
@Timeout(value = 1, unit = TimeUnit.HOURS) // as many calls as one likes
class SoakTest {
    private static final int CALLS = Integer.getInteger("soak.calls", 20_000);

    static Stream<String> names() {
        return Strategies.names().stream();
    }

    private static boolean isFaulty(long number) {
        return number % 10 == 3;
    }

    /** Answers each message with itself. */
    static final class Mirror implements Exchange {
        @Override
        public CompletableFuture<Answer> start(byte[] request, Limits limits) {
            return CompletableFuture.completedFuture(new Answer(200, Map.of(), request));
        }

        @Override
        public void close() {}
    }

    /** Answers at once or from two threads; a fault is a cut connection, an error, or nothing that one can read. */
    private static final class Service implements Exchange {
        private final ExecutorService threads = Executors.newFixedThreadPool(2);
        private final Random random = new Random(1);

        @Override
        public CompletableFuture<Answer> start(byte[] request, Limits limits) {
            CompletableFuture<Answer> answer = answer(request);
            boolean isLater = random.nextBoolean();
            return isLater ? CompletableFuture.runAsync(() -> {}, threads).thenCompose(none -> answer) : answer;
        }

        private static CompletableFuture<Answer> answer(byte[] request) {
            int number = Integer.parseInt(new String(request));
            if (!isFaulty(number)) {
                return CompletableFuture.completedFuture(new Answer(200, Map.of(), request));
            }
            return switch (number / 10 % 3) {
                case 0 -> CompletableFuture.failedFuture(new IOException("of a test"));
                case 1 -> CompletableFuture.completedFuture(FakeExchange.answer(422, "005"));
                default -> CompletableFuture.completedFuture(FakeExchange.answer(200, "?"));
            };
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void noOutcomeIsLostDoubledOrMisplaced(String name) throws InterruptedException {
        BitSet seen = new BitSet(CALLS);
        int failed = 0;
        try (Service service = new Service();
                CallingStrategy strategy = Strategies.of(name, 8, Loop.IN_ORDER);
                Calls<Integer> calls =
                        strategy.start(IntStream.range(0, CALLS).iterator(), Ways.job(service), Limits.DEFAULT)) {
            for (Outcome<Integer> next = calls.take(); next != null; next = calls.take()) {
                int index = (int) next.index();
                assertThat(seen.get(index)).isFalse();
                seen.set(index);
                failed += next instanceof Outcome.Failed ? 1 : 0;
                assertThat(next instanceof Outcome.Failed).isEqualTo(isFaulty(index));
                if (next instanceof Outcome.Done<Integer> done) {
                    assertThat(done.result()).isEqualTo(index);
                }
            }
        }
        assertThat(seen.cardinality()).isEqualTo(CALLS);
        assertThat(failed).isEqualTo((int)
                IntStream.range(0, CALLS).filter(SoakTest::isFaulty).count());
    }
}
