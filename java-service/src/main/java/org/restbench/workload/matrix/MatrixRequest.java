package org.restbench.workload.matrix;

import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * A request to multiply: {@code one} (rows × inner) times {@code two} (inner × columns).
 *
 * @param bitsOfSums number of bits, sign included, into which every element of the product and every partial sum fits
 */
public record MatrixRequest(RequestId id, Kernel kernel, Matrix one, Matrix two, int bitsOfSums) {
    private static final String SIZES_DIFFER = "Invalid number of columns and rows for multiplication";

    public MatrixRequest(RequestId id, Kernel kernel, Matrix one, Matrix two) {
        this(
                id,
                kernel,
                one,
                two,
                1 + one.bits() + two.bits() + Integer.SIZE - Integer.numberOfLeadingZeros(one.columns()));
    }

    /**
     * @param mostElements largest number of elements of a product
     * @throws InvalidRequest 001 where the inner sizes differ, 007 where the product has more elements
     */
    public void requireMultipliable(int mostElements) {
        if (one.columns() != two.rows()) {
            throw new InvalidRequest("001", SIZES_DIFFER, id);
        }
        if (elements() > mostElements) {
            String message = "the product has " + elements() + " elements, the limit is " + mostElements;
            throw new InvalidRequest("007", message, id);
        }
    }

    /** The number of elements of the product. */
    long elements() {
        return (long) one.rows() * two.columns();
    }
}
