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
                line(grid, u, v, r, grid.line(i3, i2), layers.before, layers.here, layers.after);
            }
        });
    }

    /** One pass, what is shared by neighbours carried from point to point: faster than a pass for each kind of sum. */
    private static void line(
            Grid grid, double[] u, double[] v, double[] r, int line, double[] before, double[] here, double[] after) {
        int previous = line - grid.side();
        int next = line + grid.side();
        double leftStraight = u[previous] + u[next] + here[0];
        double straight = u[previous + 1] + u[next + 1] + here[1];
        double leftDiagonal = before[0] + after[0];
        double diagonal = before[1] + after[1];
        for (int i = 1; i < grid.side() - 1; i++) {
            double rightStraight = u[previous + i + 1] + u[next + i + 1] + here[i + 1];
            double rightDiagonal = before[i + 1] + after[i + 1];
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
