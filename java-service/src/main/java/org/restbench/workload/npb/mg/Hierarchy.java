package org.restbench.workload.npb.mg;

import java.util.Arrays;
import org.restbench.workload.ParallelLoop;

/** A solution and its residual on grids from 2³ points up to the finest, and the V-cycle over them. Used by one run. */
final class Hierarchy {
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
        Residual.compute(grids[finest], u[finest], v, r[finest], loop);
    }

    double norm() {
        return grids[finest].norm(r[finest], loop);
    }

    /**
     * Runs one V-cycle. It needs the residual on the finest grid, and leaves there the residual from before the last
     * smoothing.
     */
    void cycle() {
        for (int k = finest; k > 0; k--) {
            Restriction.compute(grids[k], r[k], grids[k - 1], r[k - 1], loop);
        }
        Arrays.fill(u[0], 0);
        smooth(0);
        for (int k = 1; k < finest; k++) {
            new Prolongation(grids[k - 1], u[k - 1], grids[k], u[k]).assign(loop);
            Residual.compute(grids[k], u[k], r[k], r[k], loop);
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
