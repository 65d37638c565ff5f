package org.restbench.workload.matrix;

import java.math.BigInteger;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.ParallelLoop;

/**
 * Computes the product of {@code one} and {@code two}. A unit of the loop is an element of the product. The natural
 * grain is a row or, for the native kernel, as many rows as fill its vectors. Arithmetic is that of 64-bit machine
 * words. A bound computed from the operands shows whether sums can overflow; only then is each element checked as well.
 * An overflow of an intermediate sum is harmless: sums modulo 2^64 end right where the exact sum fits.
 */
record Multiplication(MatrixRequest request, Matrix one, Matrix two) {
    private static final int NONE = Integer.MAX_VALUE;

    /**
     * A sum of the terms' magnitudes below this bound fits 64 bits; the margin is far larger than its rounding error.
     */
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
        long[] product = loop.array(one.rows() * two.columns());
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
