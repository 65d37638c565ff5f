package org.restbench.workload.npb.mg;

import java.util.function.IntConsumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/**
 * A periodic cube of points with a layer of ghosts around it: side × side × side, flat, axis 1 fastest, interior 1 to n
 * on each axis. Ghosts repeat the interior of the opposite face.
 *
 * @param n interior points on an axis, a power of two
 */
record Grid(int n) {
    int side() {
        return n + 2;
    }

    int plane() {
        return side() * side();
    }

    int size() {
        return plane() * side();
    }

    /** The offset of point 0 in line i2 of plane i3. */
    int line(int i3, int i2) {
        return (i3 * side() + i2) * side();
    }

    double[] points(ParallelLoop loop) {
        return loop.doubles(size());
    }

    /** Runs the body, which writes a plane's interior, once for each interior plane, and fills all ghosts. */
    void fillPlanes(double[] points, ParallelLoop loop, IntConsumer body) {
        Blocks.of(n, plane()).forEach(loop, (from, to) -> {
            for (int i3 = from + 1; i3 <= to; i3++) {
                body.accept(i3);
                fillGhosts(points, i3);
            }
        });
        System.arraycopy(points, line(n, 0), points, 0, plane());
        System.arraycopy(points, line(1, 0), points, line(n + 1, 0), plane());
    }

    /** The ghosts of one interior plane: axis 1, then axis 2 with the corners. */
    private void fillGhosts(double[] points, int i3) {
        for (int i2 = 1; i2 <= n; i2++) {
            int line = line(i3, i2);
            points[line] = points[line + n];
            points[line + n + 1] = points[line + 1];
        }
        System.arraycopy(points, line(i3, n), points, line(i3, 0), side());
        System.arraycopy(points, line(i3, 1), points, line(i3, n + 1), side());
    }

    /** The root mean square over the interior. */
    double norm(double[] points, ParallelLoop loop) {
        double square = Blocks.of(n, plane()).sum(loop, (from, to) -> {
            double sum = 0;
            for (int i3 = from + 1; i3 <= to; i3++) {
                sum += squareOfPlane(points, i3);
            }
            return sum;
        });
        return Math.sqrt(square / ((double) n * n * n));
    }

    private double squareOfPlane(double[] points, int i3) {
        double sum = 0;
        for (int i2 = 1; i2 <= n; i2++) {
            int line = line(i3, i2);
            for (int i = line + 1; i <= line + n; i++) {
                sum += points[i] * points[i];
            }
        }
        return sum;
    }
}
