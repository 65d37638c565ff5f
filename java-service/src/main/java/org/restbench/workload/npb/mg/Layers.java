package org.restbench.workload.npb.mg;

/**
 * For each of three neighbouring lines of a plane, the sum of the lines above and below, kept while the three move
 * through the plane. At each point of a line, {@code straight} is the sum of the nearest points of the four lines next
 * to it, and {@code diagonal} that of the four lines diagonal to it. Both are used at three points of the line. A
 * point's 12 edge neighbours are its own {@code diagonal} and the {@code straight} to its left and right; its 8 corner
 * neighbours are the {@code diagonal} to its left and right. All of these cost three additions. Used by one task.
 */
final class Layers {
    /** The sums at each point of three lines. They are in one array, in which the lines rotate. */
    final double[] sums;
    /** The index in {@link #sums} at which the line before, the current line and the line after it begin. */
    int before;

    int here;
    int after;

    private final double[] points;
    private final int side;
    private final int plane;
    private int next;

    /** Starts on line 0 of an interior plane, without a line before it: {@link #advance} must be called first. */
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
