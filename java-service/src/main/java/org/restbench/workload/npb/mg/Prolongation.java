package org.restbench.workload.npb.mg;

import java.util.Arrays;
import java.util.function.IntConsumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/**
 * Trilinear interpolation from a coarse grid to one with twice its points on each axis: a fine point gets the mean of
 * the 1, 2, 4 or 8 coarse points around it. Fine ghosts are written as well.
 *
 * @param coarse the coarse points, with filled ghosts
 */
record Prolongation(Grid coarseGrid, double[] coarse, Grid fineGrid, double[] fine) {
    /** {@code fine += P coarse}. */
    void add(ParallelLoop loop) {
        eachPlanePair(loop, this::planePair);
    }

    /** {@code fine = P coarse}. */
    void assign(ParallelLoop loop) {
        eachPlanePair(loop, j3 -> {
            Arrays.fill(fine, fineGrid.line(2 * j3, 0), fineGrid.line(2 * j3 + 2, 0), 0);
            planePair(j3);
        });
    }

    /**
     * Runs the body for the coarse planes 0 to n. Each fills two fine planes of its own; together these are all planes.
     */
    private void eachPlanePair(ParallelLoop loop, IntConsumer body) {
        Blocks.of(coarseGrid.side() - 1, 2L * fineGrid.plane()).forEach(loop, (from, to) -> {
            for (int j3 = from; j3 < to; j3++) {
                body.accept(j3);
            }
        });
    }

    private void planePair(int j3) {
        double[] sums = new double[coarseGrid.side()];
        for (int j2 = 0; j2 <= coarseGrid.n(); j2++) {
            int here = coarseGrid.line(j3, j2);
            int nextLine = coarseGrid.line(j3, j2 + 1);
            int above = coarseGrid.line(j3 + 1, j2);
            int aboveNextLine = coarseGrid.line(j3 + 1, j2 + 1);
            System.arraycopy(coarse, here, sums, 0, sums.length);
            line(sums, 1, fineGrid.line(2 * j3, 2 * j2));
            sum(here, nextLine, sums);
            line(sums, 0.5, fineGrid.line(2 * j3, 2 * j2 + 1));
            sum(here, above, sums);
            line(sums, 0.5, fineGrid.line(2 * j3 + 1, 2 * j2));
            sum(here, nextLine, above, aboveNextLine, sums);
            line(sums, 0.25, fineGrid.line(2 * j3 + 1, 2 * j2 + 1));
        }
    }

    private void sum(int a, int b, double[] sums) {
        for (int j = 0; j < sums.length; j++) {
            sums[j] = coarse[a + j] + coarse[b + j];
        }
    }

    private void sum(int a, int b, int c, int d, double[] sums) {
        for (int j = 0; j < sums.length; j++) {
            sums[j] = coarse[a + j] + coarse[b + j] + coarse[c + j] + coarse[d + j];
        }
    }

    /** Adds to one fine line the weighted sums of the coarse lines around it: at each coarse point, and between two. */
    private void line(double[] sums, double weight, int fineLine) {
        double half = weight / 2;
        for (int j = 0; j < sums.length - 1; j++) {
            fine[fineLine + 2 * j] += weight * sums[j];
            fine[fineLine + 2 * j + 1] += half * (sums[j] + sums[j + 1]);
        }
    }
}
