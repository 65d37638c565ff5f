package org.restbench.workload.npb.mg;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/** The operators of a V-cycle that weigh the 27 points around a point. What they write includes the ghosts. */
final class Stencils {
    private Stencils() {}

    /**
     * For each of three neighbouring lines of a plane, the sum of the lines above and below, kept while the three move
     * through the plane. At each point of a line, {@code straight} is the sum of the nearest points of the four lines
     * next to it, and {@code diagonal} that of the four lines diagonal to it. Both are used at three points of the
     * line. A point's 12 edge neighbours are its own {@code diagonal} and the {@code straight} to its left and right;
     * its 8 corner neighbours are the {@code diagonal} to its left and right. All of these cost three additions. Used
     * by one task.
     */
    private static final class Layers {
        /** The sums at each point of three lines. They are in one array, in which the lines rotate. */
        final double[] sums;
        /** The index in {@link #sums} at which the line before, the current line and the line after it begin. */
        int before;

        int here;
        int after;
        /** The offset of the current line among the points. */
        int line;

        private final double[] points;
        private final int side;
        private final int plane;

        /** Starts on line 0 of an interior plane, without a line before it: {@link #advance} must be called first. */
        Layers(Grid grid, double[] points, int i3) {
            this.points = points;
            side = grid.side();
            plane = grid.plane();
            sums = new double[3 * side];
            here = side;
            after = 2 * side;
            line = grid.line(i3, 0) - 2 * side;
            advance();
            advance();
        }

        void advance() {
            int oldest = before;
            before = here;
            here = after;
            after = oldest;
            line += side;
            sum(points, line + side - plane, line + side + plane, sums, after, side);
        }

        private static void sum(double[] points, int below, int above, double[] sums, int to, int side) {
            for (int i = 0; i < side; i++) {
                sums[to + i] = points[below + i] + points[above + i];
            }
        }
    }

    /** Runs the body once for each interior line; it reads the layers around the line, and writes the line. */
    private static void eachLine(Grid grid, double[] read, double[] written, ParallelLoop loop, Consumer<Layers> body) {
        grid.fillPlanes(written, loop, i3 -> {
            Layers layers = new Layers(grid, read, i3);
            for (int i2 = 1; i2 <= grid.n(); i2++) {
                layers.advance();
                body.accept(layers);
            }
        });
    }

    /** {@code r = v - A u} (r may be v), A the discrete Laplacian; its weight of nearest neighbours is 0. */
    static void residual(Grid grid, double[] u, double[] v, double[] r, ParallelLoop loop) {
        eachLine(grid, u, r, loop, layers -> residual(u, v, r, grid.side(), layers));
    }

    /** One pass that carries the sums shared by neighbours: faster than a pass for each sum. */
    private static void residual(double[] u, double[] v, double[] r, int side, Layers layers) {
        double centre = -8.0 / 3;
        double edges = 1.0 / 6;
        double corners = 1.0 / 12;
        double[] sums = layers.sums;
        int before = layers.before;
        int here = layers.here;
        int after = layers.after;
        int line = layers.line;
        int previous = line - side;
        int next = line + side;
        double leftStraight = u[previous] + u[next] + sums[here];
        double straight = u[previous + 1] + u[next + 1] + sums[here + 1];
        double leftDiagonal = sums[before] + sums[after];
        double diagonal = sums[before + 1] + sums[after + 1];
        for (int i = 1; i < side - 1; i++) {
            double rightStraight = u[previous + i + 1] + u[next + i + 1] + sums[here + i + 1];
            double rightDiagonal = sums[before + i + 1] + sums[after + i + 1];
            r[line + i] = v[line + i]
                    - centre * u[line + i]
                    - edges * (diagonal + leftStraight + rightStraight)
                    - corners * (leftDiagonal + rightDiagonal);
            leftStraight = straight;
            straight = rightStraight;
            leftDiagonal = diagonal;
            diagonal = rightDiagonal;
        }
    }

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

        void apply(Grid grid, double[] r, double[] u, ParallelLoop loop) {
            eachLine(grid, r, u, loop, layers -> line(r, u, grid.side(), layers));
        }

        private void line(double[] r, double[] u, int side, Layers layers) {
            double[] sums = layers.sums;
            int before = layers.before;
            int here = layers.here;
            int after = layers.after;
            int line = layers.line;
            int previous = line - side;
            int next = line + side;
            double atCentre = centre;
            double atFaces = faces;
            double atEdges = edges;
            double leftStraight = r[previous] + r[next] + sums[here];
            double straight = r[previous + 1] + r[next + 1] + sums[here + 1];
            for (int i = 1; i < side - 1; i++) {
                double rightStraight = r[previous + i + 1] + r[next + i + 1] + sums[here + i + 1];
                u[line + i] += atCentre * r[line + i]
                        + atFaces * (r[line + i - 1] + r[line + i + 1] + straight)
                        + atEdges * (sums[before + i] + sums[after + i] + leftStraight + rightStraight);
                leftStraight = straight;
                straight = rightStraight;
            }
        }
    }

    /** Halves the points on each axis: coarse point j is a weighted mean over 27 points around fine point 2j. */
    static void restrict(Grid fineGrid, double[] fine, Grid coarseGrid, double[] coarse, ParallelLoop loop) {
        coarseGrid.fillPlanes(coarse, loop, j3 -> {
            Layers layers = new Layers(fineGrid, fine, 2 * j3);
            for (int j2 = 1; j2 <= coarseGrid.n(); j2++) {
                layers.advance();
                layers.advance();
                restrict(fine, fineGrid.side(), layers, coarse, coarseGrid.line(j3, j2));
            }
        });
    }

    private static void restrict(double[] fine, int side, Layers layers, double[] coarse, int coarseLine) {
        double[] sums = layers.sums;
        int before = layers.before;
        int here = layers.here;
        int after = layers.after;
        int line = layers.line;
        int previous = line - side;
        int next = line + side;
        double leftStraight = fine[previous + 1] + fine[next + 1] + sums[here + 1];
        double leftDiagonal = sums[before + 1] + sums[after + 1];
        for (int i = 2; i < side - 1; i += 2) {
            double straight = fine[previous + i] + fine[next + i] + sums[here + i];
            double rightStraight = fine[previous + i + 1] + fine[next + i + 1] + sums[here + i + 1];
            double diagonal = sums[before + i] + sums[after + i];
            double rightDiagonal = sums[before + i + 1] + sums[after + i + 1];
            coarse[coarseLine + i / 2] = 1.0 / 2 * fine[line + i]
                    + 1.0 / 4 * (fine[line + i - 1] + fine[line + i + 1] + straight)
                    + 1.0 / 8 * (leftStraight + rightStraight + diagonal)
                    + 1.0 / 16 * (leftDiagonal + rightDiagonal);
            leftStraight = rightStraight;
            leftDiagonal = rightDiagonal;
        }
    }

    /**
     * Trilinear interpolation from a coarse grid to one with twice its points on each axis: a fine point gets the mean
     * of the 1, 2, 4 or 8 coarse points around it. Fine ghosts are written as well.
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

        /** Runs the body for coarse planes 0 to n; each fills two of the fine planes. */
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

        /** Adds weighted sums of the coarse lines to a fine line: at each coarse point, and between two. */
        private void line(double[] sums, double weight, int fineLine) {
            double half = weight / 2;
            for (int j = 0; j < sums.length - 1; j++) {
                fine[fineLine + 2 * j] += weight * sums[j];
                fine[fineLine + 2 * j + 1] += half * (sums[j] + sums[j + 1]);
            }
        }
    }
}
