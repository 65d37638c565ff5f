package org.restbench.microbench;

/** Prints the names in this Java's table of strategies, a line each: what the benchmarks can be asked for. */
public final class StrategyNames {
    private StrategyNames() {}

    public static void main(String[] arguments) {
        ServiceParts parts = new ServiceParts();
        try {
            parts.strategyNames().forEach(System.out::println);
        } finally {
            parts.close();
        }
    }
}
