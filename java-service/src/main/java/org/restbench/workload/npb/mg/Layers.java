package org.restbench.workload.npb.mg;

/**
 * For three neighbouring lines of a plane, the sums of the lines above and below each, kept while they move through the
 * plane. With them a point's 12 edge and 8 corner neighbours cost three additions: {@code straight}, the four nearest
 * points of the lines around its own, is used at three points of the line, and so is {@code diagonal}, the four of the
 * lines diagonal to it. A point's edge neighbours are diagonal next to it and straight to its left and right; its
 * corners are diagonal to its left and right. Belongs to one task.
 */
final class Layers {
    /** At each point of three lines. One array, as the lines take turns in it. */
    final double[] sums;
    /** Where in it the line before, the line itself and the line after it begin. */
    int before;

    int here;
    int after;

    private final double[] points;
    private final int side;
    private final int plane;
    private int next;

    /** Stands on line 0 of an interior plane, with nothing before it: {@link #advance} comes first. */
    Layers(Grid grid, double[] points, int i3) {
        this.points = points;
        side = grid.side();
        plane = grid.plane();
        sums = new double[3 * side];
        here = side;
        after = 2 * side;
        next = grid.line(i3, 0);
        advance();
        advance();
    }

    void advance() {
        int oldest = before;
        before = here;
        here = after;
        after = oldest;
        sum(points, next - plane, next + plane, sums, after, side);
        next += side;
    }

    private static void sum(double[] points, int below, int above, double[] sums, int to, int side) {
        for (int i = 0; i < side; i++) {
            sums[to + i] = points[below + i] + points[above + i];
        }
    }
}
