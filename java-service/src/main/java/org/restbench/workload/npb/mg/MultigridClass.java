package org.restbench.workload.npb.mg;

import java.util.List;

/**
 * The constants of one class of MG.
 *
 * @param levels log2 of the points on an axis
 * @param iterations number of V-cycles
 * @param checkedIteration the iteration whose residual norm is verified; the last one, except in W30
 * @param norm the expected norm of that residual
 */
record MultigridClass(String name, int levels, int iterations, Smoother smoother, int checkedIteration, double norm) {
    static final MultigridClass S = of("S", 5, 4, Smoother.SMALL, 0.5307707005734e-04);
    static final MultigridClass W = of("W", 7, 4, Smoother.SMALL, 0.6467329375339e-05);
    static final MultigridClass A = of("A", 8, 4, Smoother.SMALL, 0.2433365309069e-05);
    static final MultigridClass B = of("B", 8, 20, Smoother.LARGE, 0.1800564401355e-05);
    static final MultigridClass C = of("C", 9, 20, Smoother.LARGE, 0.5706732285740e-06);
    /** Class W of NPB 3.0, whose last norm is rounding noise: only an early one can be verified. */
    static final MultigridClass W30 = new MultigridClass("W30", 6, 40, Smoother.SMALL, 4, 0.183103168997e-04);

    static final List<MultigridClass> ALL = List.of(S, W30, W, A, B, C);

    private static MultigridClass of(String name, int levels, int iterations, Smoother smoother, double norm) {
        return new MultigridClass(name, levels, iterations, smoother, iterations, norm);
    }

    int n() {
        return 1 << levels;
    }
}
