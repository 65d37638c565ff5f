package org.restbench.client;

import java.lang.management.ManagementFactory;
import java.util.stream.IntStream;
import org.restbench.client.strategy.Strategies;

/** Prints the CPU time of a call under each strategy with nothing in its stages: what the library itself costs. */
final class Cost {
    private static final int CALLS = 200_000;
    private static final int ROUNDS = 5;
    private static final byte[] EMPTY = {};

    private Cost() {}

    private static final Codec<Integer, Integer> CODEC = new Codec<>() {
        @Override
        public byte[] encode(Integer input, Loop loop) {
            return EMPTY;
        }

        @Override
        public Integer decode(Answer answer, Loop loop) {
            return 0;
        }
    };

    public static void main(String[] arguments) throws InterruptedException {
        var system = ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
        for (String name : Strategies.names()) {
            double best = Double.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                long before = system.getProcessCpuTime();
                try (CallingStrategy strategy = Strategies.of(name, 4, Loop.IN_ORDER);
                        Calls<Integer> calls = strategy.start(
                                IntStream.range(0, CALLS).iterator(),
                                new Job<>(CODEC, new SoakTest.Mirror(), (index, input, output) -> output),
                                Limits.DEFAULT)) {
                    while (calls.take() != null) {
                        // the outcomes are not what is measured
                    }
                }
                best = Math.min(best, (system.getProcessCpuTime() - before) / 1e3 / CALLS);
            }
            System.out.printf("%-16s %6.1f µs CPU a call%n", name, best);
        }
    }
}
