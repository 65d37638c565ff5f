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

    /** The triple loop of the study: an element after the other, each a walk down a column of two. */
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

    /** Where all sums fit 32 bits: in tiles, wherever the product was cut. */
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
     * The same sums with the loops turned: a row of two after the other is added, scaled, to a row of the product, so
     * that memory is read in order and the innermost loop has no dependency between its steps.
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
