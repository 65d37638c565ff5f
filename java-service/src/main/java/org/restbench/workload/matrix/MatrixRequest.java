package org.restbench.workload.matrix;

import java.math.BigInteger;
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

    /**
     * Whether every partial sum surely fits 64 bits: inner size · largest |one| · largest |two| is at most 2^63-1. The
     * largest values are searched for only where their bits do not suffice to decide.
     */
    boolean sumsSurelyFit() {
        if (bitsOfSums <= Long.SIZE) {
            return true;
        }
        BigInteger inner = BigInteger.valueOf(one.columns());
        return inner.multiply(one.largest()).multiply(two.largest()).bitLength() < Long.SIZE;
    }

    /** The number of elements of the product. */
    long elements() {
        return (long) one.rows() * two.columns();
    }
}
