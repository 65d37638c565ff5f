package org.restbench.workload.npb.mg;

import java.util.Arrays;
import java.util.List;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Problem;
import org.restbench.workload.npb.mg.Stencils.Prolongation;
import org.restbench.workload.npb.mg.Stencils.Smoother;

/**
 * MG: V-cycles on a periodic Poisson problem in three dimensions.
 *
 * @param sizes the class
 * @param seed of the random numbers: NPB's, except in tests
 */
public record Multigrid(MultigridClass sizes, long seed) implements Problem<Charges> {
    private static final double EPSILON = 1e-8;
    /** The bound of the last residual's norm where iterations follow the checked one: they must go on converging. */
    private static final double NOISE = 1e-16;

    public static Kernel kernel() {
        return Kernel.of("MG", MultigridClass.ALL, sizes -> new Multigrid(sizes, LinearCongruential.SEED));
    }

    @Override
    public String name() {
        return sizes.name();
    }

    @Override
    public Charges input(boolean kept, ParallelLoop loop) {
        return Charges.place(new Grid(sizes.n()), seed, loop);
    }

    @Override
    public Outcome run(Charges charges, ParallelLoop loop) {
        Hierarchy grids = new Hierarchy(sizes.levels(), sizes.smoother(), loop);
        warmUp(grids, charges);
        grids.reset(charges);
        long start = System.nanoTime();
        grids.residual();
        grids.norm();
        double checked = 0;
        for (int iteration = 1; iteration <= sizes.iterations(); iteration++) {
            grids.cycle();
            grids.residual();
            if (iteration == sizes.checkedIteration()) {
                checked = grids.norm();
            }
        }
        double last = sizes.checkedIteration() == sizes.iterations() ? checked : grids.norm();
        return outcome(checked, last, System.nanoTime() - start);
    }

    private static void warmUp(Hierarchy grids, Charges charges) {
        grids.reset(charges);
        grids.residual();
        grids.cycle();
        grids.residual();
    }

    private Outcome outcome(double checked, double last, long nanos) {
        boolean right = Math.abs(checked - sizes.norm()) <= EPSILON * sizes.norm();
        boolean converged = sizes.checkedIteration() == sizes.iterations() || last < NOISE;
        return new Outcome(
                right && converged,
                List.of(checked),
                List.of(sizes.norm()),
                sizes.iterations(),
                nanos,
                millionOperations());
    }

    @Override
    public double millionOperations() {
        return 58e-6 * sizes.iterations() * Math.pow(sizes.n(), 3);
    }

    /** The solution and its residual on all grids, and the right-hand side on the finest. */
    @Override
    public long workingBytes() {
        long points = 0;
        for (int k = 1; k <= sizes.levels(); k++) {
            long grid = (long) Math.pow((1 << k) + 2, 3);
            points += (k == sizes.levels() ? 3 : 2) * grid;
        }
        return points * Double.BYTES;
    }

    /** The bytes of a few positions. */
    @Override
    public long keptBytes() {
        return 1024;
    }

    /**
     * The constants of one class of MG.
     *
     * @param levels log2 of the points on an axis
     * @param iterations number of V-cycles
     * @param checkedIteration the iteration whose residual norm is verified; the last one, except in W30
     * @param norm the expected norm of that residual
     */
    record MultigridClass(
            String name, int levels, int iterations, Smoother smoother, int checkedIteration, double norm) {
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

    /** Solution and residual on grids from 2³ points to the finest, and the V-cycle. Used by one run. */
    static final class Hierarchy {
        private final Smoother smoother;
        private final ParallelLoop loop;
        private final Grid[] grids;
        private final double[][] u;
        private final double[][] r;
        private final double[] v;
        private final int finest;

        /** @param levels log2 of the finest grid's points on an axis, at least 2 */
        Hierarchy(int levels, Smoother smoother, ParallelLoop loop) {
            this.smoother = smoother;
            this.loop = loop;
            this.finest = levels - 1;
            this.grids = new Grid[levels];
            this.u = new double[levels][];
            this.r = new double[levels][];
            for (int k = 0; k < levels; k++) {
                grids[k] = new Grid(2 << k);
                u[k] = grids[k].points(loop);
                r[k] = grids[k].points(loop);
            }
            this.v = grids[finest].points(loop);
        }

        /** Starts again: sets the right-hand side, and a solution of 0. The residual must then be computed. */
        void reset(Charges charges) {
            charges.fill(grids[finest], v, loop);
            Arrays.fill(u[finest], 0);
        }

        void residual() {
            Stencils.residual(grids[finest], u[finest], v, r[finest], loop);
        }

        double norm() {
            return grids[finest].norm(r[finest], loop);
        }

        /** Needs the finest grid's residual, and leaves there that from before the last smoothing. */
        void cycle() {
            for (int k = finest; k > 0; k--) {
                Stencils.restrict(grids[k], r[k], grids[k - 1], r[k - 1], loop);
            }
            Arrays.fill(u[0], 0);
            smooth(0);
            for (int k = 1; k < finest; k++) {
                new Prolongation(grids[k - 1], u[k - 1], grids[k], u[k]).assign(loop);
                Stencils.residual(grids[k], u[k], r[k], r[k], loop);
                smooth(k);
            }
            new Prolongation(grids[finest - 1], u[finest - 1], grids[finest], u[finest]).add(loop);
            residual();
            smooth(finest);
        }

        private void smooth(int k) {
            smoother.apply(grids[k], r[k], u[k], loop);
        }
    }
}
