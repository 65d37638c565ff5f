package org.restbench.workload.npb.mg;

import java.util.List;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Kernel;
import org.restbench.workload.npb.Outcome;
import org.restbench.workload.npb.Problem;

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
}
