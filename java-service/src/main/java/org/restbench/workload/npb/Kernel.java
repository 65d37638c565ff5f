package org.restbench.workload.npb;

import java.util.List;
import java.util.function.Function;

/**
 * A kernel of the NAS Parallel Benchmarks.
 *
 * @param name as NPB writes it, e.g. {@code "CG"}
 * @param problems one for each class, from small to large
 */
public record Kernel(String name, List<Problem<?>> problems) {
    /** @param problem the kernel on a class */
    public static <C> Kernel of(String name, List<C> classes, Function<C, Problem<?>> problem) {
        return new Kernel(name, classes.stream().<Problem<?>>map(problem).toList());
    }
}
