package org.restbench.workload.npb.mg;

import org.restbench.workload.ParallelLoop;

/**
 * {@code u += S r}, S an approximate inverse of the Laplacian; its weight of the corners is 0.
 *
 * @param centre weight of the point itself
 * @param faces of its 6 nearest neighbours
 * @param edges of the next 12
 */
record Smoother(double centre, double faces, double edges) {
    /** Classes S, W30, W and A. */
    static final Smoother SMALL = new Smoother(-3.0 / 8, 1.0 / 32, -1.0 / 64);
    /** Classes B and C. */
    static final Smoother LARGE = new Smoother(-3.0 / 17, 1.0 / 33, -1.0 / 61);

    /** @param u all of it is written, ghosts included */
    void apply(Grid grid, double[] r, double[] u, ParallelLoop loop) {
        grid.fillPlanes(u, loop, i3 -> {
            Layers layers = new Layers(grid, r, i3);
            for (int i2 = 1; i2 <= grid.n(); i2++) {
                layers.advance();
                line(grid, r, u, grid.line(i3, i2), layers);
            }
        });
    }

    private void line(Grid grid, double[] r, double[] u, int line, Layers layers) {
        double[] sums = layers.sums;
        int before = layers.before;
        int here = layers.here;
        int after = layers.after;
        int previous = line - grid.side();
        int next = line + grid.side();
        double atCentre = centre;
        double atFaces = faces;
        double atEdges = edges;
        double leftStraight = r[previous] + r[next] + sums[here];
        double straight = r[previous + 1] + r[next + 1] + sums[here + 1];
        for (int i = 1; i < grid.side() - 1; i++) {
            double rightStraight = r[previous + i + 1] + r[next + i + 1] + sums[here + i + 1];
            u[line + i] += atCentre * r[line + i]
                    + atFaces * (r[line + i - 1] + r[line + i + 1] + straight)
                    + atEdges * (sums[before + i] + sums[after + i] + leftStraight + rightStraight);
            leftStraight = straight;
            straight = rightStraight;
        }
    }
}
