package org.restbench.workload.matrix;

/**
 * The kernels: each fills the elements {@code from} (inclusive) to {@code to} (exclusive) of the product, counted
 * row-major, in 64-bit arithmetic that wraps.
 */
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

    /**
     * The triple loop of the study: one element after the other, each of them by walking down a column of {@code two}.
     */
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
}
