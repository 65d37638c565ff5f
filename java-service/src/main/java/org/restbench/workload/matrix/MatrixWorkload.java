package org.restbench.workload.matrix;

import java.math.BigInteger;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.matrix.Products.Tiles;

/** Multiplies two matrices of 64-bit integers, exactly. */
public final class MatrixWorkload implements Workload<MatrixWorkload.MatrixRequest, MatrixWorkload.MatrixProduct> {
    @Override
    public String name() {
        return "matrix";
    }

    @Override
    public String kind(MatrixRequest request) {
        return request.kernel() == Kernel.NATIVE ? "matrix native" : "matrix loops";
    }

    /** The number of multiplications, each with its addition. */
    @Override
    public long operations(MatrixRequest request) {
        return request.elements() * request.one().columns();
    }

    /** Where sums may not fit 64 bits, each element is computed once more, exactly: as slow as plain loops. */
    @Override
    public Bound bound(MatrixRequest request) {
        return request.kernel() == Kernel.NATIVE && request.sumsSurelyFit() ? Bound.OPERATIONS : Bound.LOOP_OPERATIONS;
    }

    @Override
    public List<ParallelLoop.Size> loops(MatrixRequest request) {
        return new Multiplication(request).loops();
    }

    /** The product, the native kernel's tiles, and twice the longest text: as written, and as sent. */
    @Override
    public long workingBytes(MatrixRequest request) {
        int separator = 1;
        long text = request.elements() * (Matrix.characters(Math.min(Long.SIZE, request.bitsOfSums())) + separator)
                + 2L * request.one().rows();
        long tiles = request.kernel() == Kernel.NATIVE ? Tiles.mostBytes(request.one()) : 0;
        return request.elements() * Long.BYTES + tiles + 2 * text;
    }

    @Override
    public MatrixProduct compute(MatrixRequest request, ParallelLoop loop) {
        return new MatrixProduct(request.id(), new Multiplication(request).run(loop));
    }

    /**
     * A request to multiply: {@code one} (rows × inner) times {@code two} (inner × columns).
     *
     * @param bitsOfSums number of bits, sign included, that every partial sum fits
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

        /** @throws InvalidRequest 001 where the inner sizes differ, 007 where the product has more elements */
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
         * Whether every partial sum surely fits 64 bits: inner size · largest |one| · largest |two| is at most 2^63-1.
         * The largest values are searched for only where their bits do not suffice to decide.
         */
        boolean sumsSurelyFit() {
            if (bitsOfSums <= Long.SIZE) {
                return true;
            }
            BigInteger inner = BigInteger.valueOf(one.columns());
            return inner.multiply(one.largest()).multiply(two.largest()).bitLength() < Long.SIZE;
        }

        long elements() {
            return (long) one.rows() * two.columns();
        }
    }

    public record MatrixProduct(RequestId id, Matrix product) {}

    /** How the product's elements are computed. */
    public enum Kernel {
        /** The plain triple loop of the study: row, column, inner. */
        LOOPS,
        /** The loop that the just-in-time compiler turns into vector instructions. */
        NATIVE
    }

    /**
     * Computes the product of {@code one} and {@code two}. A unit of the loop is an element of the product. The natural
     * grain is a row or, for the native kernel, as many rows as fill its vectors. Arithmetic is that of 64-bit machine
     * words. A bound computed from the operands shows whether sums can overflow; only then is each element checked as
     * well. An overflow of an intermediate sum is harmless: sums modulo 2^64 end right where the exact sum fits.
     */
    record Multiplication(MatrixRequest request, Matrix one, Matrix two) {
        private static final int NONE = Integer.MAX_VALUE;

        /** A sum of magnitudes below this fits 64 bits; the margin far exceeds its rounding error. */
        private static final double SURELY_FITS = 0x1p62;

        Multiplication(MatrixRequest request) {
            this(request, request.one(), request.two());
        }

        /** The loop that fills the product and, where sums might not fit 64 bits, the loop that checks it. */
        List<ParallelLoop.Size> loops() {
            int units = (int) request.elements();
            int rows = request.kernel() == Kernel.NATIVE ? Tiles.GRAIN_ROWS : 1;
            ParallelLoop.Size fill = new ParallelLoop.Size(units, (int) Math.min(units, (long) rows * two.columns()));
            return request.sumsSurelyFit() ? List.of(fill) : List.of(fill, new ParallelLoop.Size(units, two.columns()));
        }

        /** @throws InvalidRequest 006 where an element of the product does not fit 64 bits */
        Matrix run(ParallelLoop loop) {
            long[] product = new long[one.rows() * two.columns()];
            int bits = request.bitsOfSums();
            Products products = new Products(one, two, product);
            ParallelLoop.Body body = request.kernel() == Kernel.LOOPS
                    ? products::plain
                    : bits <= Integer.SIZE ? products::narrow : products::rowByRow;
            List<ParallelLoop.Size> loops = loops();
            loop.forEach(loops.get(0).units(), loops.get(0).unitsPerTask(), body);
            if (loops.size() > 1) {
                requireFits(loop, loops.get(1));
            }
            return new Matrix(one.rows(), two.columns(), product);
        }

        private void requireFits(ParallelLoop loop, ParallelLoop.Size size) {
            AtomicInteger firstWrapped = new AtomicInteger(NONE);
            loop.forEach(size.units(), size.unitsPerTask(), (from, to) -> {
                for (int unit = from; unit < to && unit < firstWrapped.get(); unit++) {
                    if (!fits(unit)) {
                        firstWrapped.accumulateAndGet(unit, Math::min);
                    }
                }
            });
            int wrapped = firstWrapped.get();
            if (wrapped != NONE) {
                String place = "rows[" + wrapped / two.columns() + "][" + wrapped % two.columns() + "]";
                throw new InvalidRequest("006", place + ": the product's element does not fit 64 bits", request.id());
            }
        }

        private boolean fits(int unit) {
            int left = unit / two.columns() * one.columns();
            int right = unit % two.columns();
            double magnitude = 0;
            for (int k = 0; k < one.columns(); k++) {
                magnitude += Math.abs((double) one.values()[left + k] * two.values()[right + k * two.columns()]);
            }
            return magnitude < SURELY_FITS || exact(left, right).bitLength() < Long.SIZE;
        }

        private BigInteger exact(int left, int right) {
            BigInteger sum = BigInteger.ZERO;
            for (int k = 0; k < one.columns(); k++) {
                BigInteger factor = BigInteger.valueOf(one.values()[left + k]);
                sum = sum.add(factor.multiply(BigInteger.valueOf(two.values()[right + k * two.columns()])));
            }
            return sum;
        }
    }
}
