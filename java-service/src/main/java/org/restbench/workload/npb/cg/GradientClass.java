package org.restbench.workload.npb.cg;

import java.util.List;

/**
 * The constants of one class of CG.
 *
 * @param order rows of the matrix
 * @param nonzeros entries drawn for each of the sparse vectors whose outer products make the matrix
 * @param iterations of the power method
 * @param shift subtracted from the diagonal
 * @param zeta the eigenvalue that the last iteration must estimate
 */
record GradientClass(String name, int order, int nonzeros, int iterations, double shift, double zeta) {
    static final GradientClass S = new GradientClass("S", 1400, 7, 15, 10, 8.5971775078648);
    static final GradientClass W = new GradientClass("W", 7000, 8, 15, 12, 10.362595087124);
    static final GradientClass A = new GradientClass("A", 14000, 11, 15, 20, 17.130235054029);
    static final GradientClass B = new GradientClass("B", 75000, 13, 75, 60, 22.712745482631);
    static final GradientClass C = new GradientClass("C", 150000, 15, 75, 110, 28.973605592845);

    static final List<GradientClass> ALL = List.of(S, W, A, B, C);

    /** Entries of the outer products, before those at the same place are added up. */
    long mostEntries() {
        return (long) order * (nonzeros + 1) * (nonzeros + 1);
    }
}
