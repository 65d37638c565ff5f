package org.restbench.workload.npb.mg;

/**
 * For three neighbouring lines of a plane, the sums of the lines above and below each, kept while they move through the
 * plane. With them a point's 12 edge and 8 corner neighbours cost three additions: {@code straight}, the four nearest
 * points of the lines around its own, is used at three points of the line, and so is {@code diagonal}, the four of the
 * lines diagonal to it. A point's edge neighbours are diagonal beside it and straight to its left and right; its
 * corners are diagonal to its left and right. Belongs to one task.
 */
final class Layers {
    /** The line before, the line itself, and the line after it, at each point of the line. */
    double[] before;

    double[] here;
    double[] after;

    private final double[] points;
    private final int side;
    private final int plane;
    private int next;

    /** Stands on line 0 of an interior plane, with nothing before it: {@link #advance} comes first. */
    Layers(Grid grid, double[] points, int i3) {
        this.points = points;
        side = grid.side();
        plane = grid.plane();
        before = new double[side];
        here = new double[side];
        after = new double[side];
        next = grid.line(i3, 0);
        advance();
        advance();
    }

    /** Moves on by one line. */
    void advance() {
        double[] oldest = before;
        before = here;
        here = after;
        after = oldest;
        sum(points, next - plane, next + plane, after);
        next += side;
    }

    private static void sum(double[] points, int below, int above, double[] result) {
        for (int i = 0; i < result.length; i++) {
            result[i] = points[below + i] + points[above + i];
        }
    }
}
