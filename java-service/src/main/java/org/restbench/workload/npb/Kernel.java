package org.restbench.workload.npb;

import java.util.List;

/**
 * A kernel of the NAS Parallel Benchmarks.
 *
 * @param name as NPB writes it, e.g. {@code "CG"}
 * @param problems one for each class, from small to large
 */
public record Kernel(String name, List<Problem<?>> problems) {}
