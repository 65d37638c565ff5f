package org.restbench.workload.matrix;

import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;

/**
 * What a client asks for: {@code one} (rows × inner) times {@code two} (inner × columns).
 *
 * @param bitsOfSums every sum of products, whole or in part, fits so many bits, its sign included
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
     * @param mostElements of a product
     * @throws InvalidRequest 001 where the sizes do not meet, 007 where the product is larger
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

    /** Of the product. */
    long elements() {
        return (long) one.rows() * two.columns();
    }
}
