package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.client.strategy.Strategies;

/** 10 000 inputs of 1 MB go through a heap that holds three times those that may be ahead, and 64 MiB. */
class MemoryTest {
    private static final int SIZE = 1_000_000;
    private static final int CALLS = 10_000;
    private static final int THREADS = 4;
    private static final Limits LIMITS = new Limits(8, 2, Duration.ofSeconds(30), null, 64 << 20, Retries.NONE, false);
    private static final int MOST_AHEAD = THREADS + 8 + 4 * 2;

    /** Copies, as codecs do. */
    private static final Codec<byte[], byte[]> COPIES = new Codec<>() {
        @Override
        public byte[] encode(byte[] input, Loop loop) {
            return input.clone();
        }

        @Override
        public byte[] decode(Answer answer, Loop loop) {
            return answer.body().clone();
        }
    };

    static Stream<String> names() {
        return Strategies.names().stream();
    }

    @ParameterizedTest
    @MethodSource("names")
    void theHeapIsBoundedWhateverTheNumberOfCalls(String name) throws Exception {
        int megabytes = 64 + (int) Math.ceil(3.0 * MOST_AHEAD * SIZE / (1 << 20));
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        Process process = new ProcessBuilder(List.of(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx" + megabytes + "m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.restbench.client.MemoryTest",
                        name))
                .redirectErrorStream(true)
                .start();
        String told = new String(process.getInputStream().readAllBytes());
        assertThat(told.strip()).endsWith(CALLS + " done");
        assertThat(process.waitFor()).isZero();
    }

    /** The child process: fails where the heap is too small. */
    public static void main(String[] arguments) throws InterruptedException {
        Exchange service = new SoakTest.Mirror();
        int done = 0;
        try (CallingStrategy strategy = Strategies.of(arguments[0], THREADS, Loop.IN_ORDER);
                Calls<Integer> calls = strategy.start(
                        IntStream.range(0, CALLS).mapToObj(i -> new byte[SIZE]).iterator(),
                        new Job<>(COPIES, service, (index, input, output) -> output.length),
                        LIMITS)) {
            for (Outcome<Integer> next = calls.take(); next != null; next = calls.take()) {
                done += next instanceof Outcome.Done ? 1 : 0;
            }
        }
        System.out.println(done + " done");
    }
}
