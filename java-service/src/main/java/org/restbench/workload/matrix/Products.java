package org.restbench.workload.matrix;

import java.util.Arrays;

/** The kernels: each fills elements of the product, counted row-major, in 64-bit arithmetic that wraps. */
final class Products {
    private final long[] one;
    private final long[] two;
    private final long[] product;
    private final int inner;
    private final int columns;
    private final Tiles tiles;

    /** @param product rows of one × columns of two, zeroed */
    Products(Matrix one, Matrix two, long[] product) {
        this.one = one.values();
        this.two = two.values();
        this.product = product;
        this.inner = one.columns();
        this.columns = two.columns();
        this.tiles = new Tiles(one, two, product);
    }

    /** The triple loop of the study: each element by walking down a column of {@code two}. */
    void plain(int from, int to) {
        int row = from / columns;
        int column = from % columns;
        for (int unit = from; unit < to; unit++) {
            long sum = 0;
            for (int k = 0; k < inner; k++) {
                sum += one[row * inner + k] * two[k * columns + column];
            }
            product[unit] = sum;
            if (++column == columns) {
                column = 0;
                row++;
            }
        }
    }

    /** For sums that all fit 32 bits: computes in tiles, wherever a task begins and ends in the product. */
    void narrow(int from, int to) {
        for (int unit = from; unit < to; ) {
            int row = unit / columns;
            int column = unit % columns;
            int wholeRows = column == 0 ? (to - unit) / columns : 0;
            if (wholeRows > 0) {
                tiles.fill(row, row + wholeRows, 0, columns);
                unit += wholeRows * columns;
            } else {
                int end = Math.min(to, (row + 1) * columns);
                tiles.fill(row, row + 1, column, column + end - unit);
                unit = end;
            }
        }
    }

    /**
     * The same sums with the loops interchanged: the rows of {@code two}, scaled, are added to a row of the product one
     * after the other. Memory is then read in order, and the steps of the innermost loop do not depend on each other.
     */
    void rowByRow(int from, int to) {
        for (int unit = from; unit < to; ) {
            int row = unit / columns;
            int end = Math.min(to, (row + 1) * columns);
            for (int k = 0; k < inner; k++) {
                addScaled(one[row * inner + k], k * columns - row * columns, unit, end);
            }
            unit = end;
        }
    }

    /** {@code product[i] += factor * two[i + shift]}. */
    private void addScaled(long factor, int shift, int from, int to) {
        for (int i = from; i < to; i++) {
            product[i] += factor * two[i + shift];
        }
    }

    /**
     * Computes rows of the product in 32-bit arithmetic, for operands whose sums surely fit. The loops that the
     * just-in-time compiler turns into vector instructions run along the rows of a tile of {@code one}, and not along a
     * row of {@code two}, which may be short. The tile is therefore transposed first. Each of its columns is an array
     * of its own: only then does the compiler see that the memory read and the memory written are never the same.
     * (Measured: four times as fast as {@link Products#rowByRow} on 1000 × 50 × 20.)
     *
     * @param product rows of one × columns of two, zeroed
     */
    record Tiles(Matrix one, Matrix two, long[] product) {
        /** The rows that a task should have at least: fewer do not fill the vectors. */
        static final int GRAIN_ROWS = 16;

        /** Rows of the largest tile of {@code one}: 64 KiB, which stay in a core's second-level cache. */
        private static final int MOST_ROWS = 256;

        private static final int MOST_INNER = 64;

        /** The most bytes of tiles at once, in tasks of the natural grain, and a quarter for array headers. */
        static long mostBytes(Matrix one) {
            long rows = Math.max(GRAIN_ROWS, one.rows());
            return (long) Integer.BYTES * (rows + rows / 4) * (Math.min(MOST_INNER, one.columns()) + 1);
        }

        /** Fills the given columns of the rows {@code from} to {@code to} of the product; ends are exclusive. */
        void fill(int from, int to, int firstColumn, int endColumn) {
            int rows = Math.min(MOST_ROWS, to - from);
            int[][] turned = new int[Math.min(MOST_INNER, one.columns())][];
            Arrays.setAll(turned, column -> new int[rows]); // new int[a][b] would run outside of compiled code
            int[] sums = new int[rows];
            for (int row = from; row < to; row += MOST_ROWS) {
                int count = Math.min(MOST_ROWS, to - row);
                for (int k = 0; k < one.columns(); k += MOST_INNER) {
                    int depth = Math.min(MOST_INNER, one.columns() - k);
                    turn(row, count, k, depth, turned);
                    addTile(row, count, k, depth, turned, sums, firstColumn, endColumn);
                }
            }
        }

        /** {@code turned[i][j] = one[row + j][k + i]}. */
        private void turn(int row, int count, int k, int depth, int[][] turned) {
            for (int i = 0; i < depth; i++) {
                int[] column = turned[i];
                int from = row * one.columns() + k + i;
                for (int j = 0; j < count; j++) {
                    column[j] = (int) one.values()[from + j * one.columns()];
                }
            }
        }

        /** Adds a tile of {@code one} times the matching rows of {@code two} to the product, by columns. */
        private void addTile(
                int row, int count, int k, int depth, int[][] turned, int[] sums, int firstColumn, int endColumn) {
            for (int column = firstColumn; column < endColumn; column++) {
                Arrays.fill(sums, 0, count, 0);
                sum(turned, depth, k * two.columns() + column, sums, count);
                int to = row * two.columns() + column;
                for (int j = 0; j < count; j++) {
                    product[to + j * two.columns()] += sums[j];
                }
            }
        }

        /** @param factor offset in {@code two} of the first turned column's factor; the others are below it */
        private void sum(int[][] turned, int depth, int factor, int[] sums, int count) {
            long[] factors = two.values();
            int width = two.columns();
            int at = factor;
            int i = 0;
            for (; i + 3 < depth; i += 4, at += 4 * width) {
                addFour(
                        turned,
                        i,
                        (int) factors[at],
                        (int) factors[at + width],
                        (int) factors[at + 2 * width],
                        (int) factors[at + 3 * width],
                        sums,
                        count);
            }
            for (; i < depth; i++, at += width) {
                addOne(turned[i], (int) factors[at], sums, count);
            }
        }

        /** Adds four columns at once, so that a sum is read and written once for four products. */
        private static void addFour(int[][] turned, int first, int a, int b, int c, int d, int[] sums, int count) {
            int[] one = turned[first];
            int[] two = turned[first + 1];
            int[] three = turned[first + 2];
            int[] four = turned[first + 3];
            for (int j = 0; j < count; j++) {
                sums[j] += a * one[j] + b * two[j] + c * three[j] + d * four[j];
            }
        }

        private static void addOne(int[] column, int factor, int[] sums, int count) {
            for (int j = 0; j < count; j++) {
                sums[j] += factor * column[j];
            }
        }
    }
}
