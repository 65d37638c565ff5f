package org.restbench.workload.matrix;

/**
 * The two kernels: both fill the elements {@code from} (inclusive) to {@code to} (exclusive) of the product, counted
 * row-major, in 64-bit arithmetic that wraps.
 */
final class Products {
    private final long[] one;
    private final long[] two;
    private final long[] product;
    private final int inner;
    private final int columns;

    /** @param product rows of one × columns of two, zeroed */
    Products(Matrix one, Matrix two, long[] product) {
        this.one = one.values();
        this.two = two.values();
        this.product = product;
        this.inner = one.columns();
        this.columns = two.columns();
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

    /**
     * The same sums with the loops turned: a row of two after the other is added, scaled, to a row of the product, so
     * that memory is read in order and the innermost loop has no dependency between its steps. The just-in-time
     * compiler makes vector instructions of it.
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
