package org.restbench.workload.npb.mg;

import org.restbench.workload.ParallelLoop;

/** {@code r = v - A u}, where A is the discrete Laplacian on 27 points; its weight of the nearest neighbours is 0. */
final class Residual {
    private static final double CENTRE = -8.0 / 3;
    private static final double EDGES = 1.0 / 6;
    private static final double CORNERS = 1.0 / 12;

    private Residual() {}

    /** @param r all of it is written, ghosts included; may be v itself */
    static void compute(Grid grid, double[] u, double[] v, double[] r, ParallelLoop loop) {
        grid.fillPlanes(r, loop, i3 -> {
            Layers layers = new Layers(grid, u, i3);
            for (int i2 = 1; i2 <= grid.n(); i2++) {
                layers.advance();
                line(grid, u, v, r, grid.line(i3, i2), layers);
            }
        });
    }

    /**
     * Runs in one pass and carries the sums that neighbours share from point to point: faster than a pass for each sum.
     */
    private static void line(Grid grid, double[] u, double[] v, double[] r, int line, Layers layers) {
        double[] sums = layers.sums;
        int before = layers.before;
        int here = layers.here;
        int after = layers.after;
        int previous = line - grid.side();
        int next = line + grid.side();
        double leftStraight = u[previous] + u[next] + sums[here];
        double straight = u[previous + 1] + u[next + 1] + sums[here + 1];
        double leftDiagonal = sums[before] + sums[after];
        double diagonal = sums[before + 1] + sums[after + 1];
        for (int i = 1; i < grid.side() - 1; i++) {
            double rightStraight = u[previous + i + 1] + u[next + i + 1] + sums[here + i + 1];
            double rightDiagonal = sums[before + i + 1] + sums[after + i + 1];
            r[line + i] = v[line + i]
                    - CENTRE * u[line + i]
                    - EDGES * (diagonal + leftStraight + rightStraight)
                    - CORNERS * (leftDiagonal + rightDiagonal);
            leftStraight = straight;
            straight = rightStraight;
            leftDiagonal = diagonal;
            diagonal = rightDiagonal;
        }
    }
}
