package org.restbench.workload.npb.mg;

import org.restbench.workload.ParallelLoop;

/** Restricts a fine grid to one with half its points on each axis, by weighted means over 27 fine points. */
final class Restriction {
    private static final double CENTRE = 1.0 / 2;
    private static final double FACES = 1.0 / 4;
    private static final double EDGES = 1.0 / 8;
    private static final double CORNERS = 1.0 / 16;

    private Restriction() {}

    /** Coarse point j is the mean around fine point 2j; ghosts are filled. */
    static void compute(Grid fineGrid, double[] fine, Grid coarseGrid, double[] coarse, ParallelLoop loop) {
        coarseGrid.fillPlanes(coarse, loop, j3 -> {
            Layers layers = new Layers(fineGrid, fine, 2 * j3);
            for (int j2 = 1; j2 <= coarseGrid.n(); j2++) {
                layers.advance();
                layers.advance();
                int line = fineGrid.line(2 * j3, 2 * j2);
                line(fineGrid, fine, line, layers, coarse, coarseGrid.line(j3, j2));
            }
        });
    }

    private static void line(Grid fineGrid, double[] fine, int line, Layers layers, double[] coarse, int coarseLine) {
        double[] sums = layers.sums;
        int before = layers.before;
        int here = layers.here;
        int after = layers.after;
        int previous = line - fineGrid.side();
        int next = line + fineGrid.side();
        double leftStraight = fine[previous + 1] + fine[next + 1] + sums[here + 1];
        double leftDiagonal = sums[before + 1] + sums[after + 1];
        for (int i = 2; i < fineGrid.side() - 1; i += 2) {
            double straight = fine[previous + i] + fine[next + i] + sums[here + i];
            double rightStraight = fine[previous + i + 1] + fine[next + i + 1] + sums[here + i + 1];
            double diagonal = sums[before + i] + sums[after + i];
            double rightDiagonal = sums[before + i + 1] + sums[after + i + 1];
            coarse[coarseLine + i / 2] = CENTRE * fine[line + i]
                    + FACES * (fine[line + i - 1] + fine[line + i + 1] + straight)
                    + EDGES * (leftStraight + rightStraight + diagonal)
                    + CORNERS * (leftDiagonal + rightDiagonal);
            leftStraight = rightStraight;
            leftDiagonal = rightDiagonal;
        }
    }
}
