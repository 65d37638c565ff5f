package org.restbench.workload.npb.ft;

import java.util.ArrayList;
import java.util.List;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;
import org.restbench.workload.npb.Problem;
import org.restbench.workload.npb.ft.BoxTransform.Batch;

/**
 * FT: solves a diffusion equation in three dimensions by Fourier transforms.
 *
 * @param sizes the class
 * @param seed of the random numbers: NPB's, except in tests
 */
public record FourierTransform(FourierClass sizes, long seed) implements Problem<Field> {
    private static final double EPSILON = 1e-12;
    private static final int CHECKED_POINTS = 1024;

    public static Kernel kernel() {
        return Kernel.of("FT", FourierClass.ALL, sizes -> new FourierTransform(sizes, LinearCongruential.SEED));
    }

    @Override
    public String name() {
        return sizes.name();
    }

    /** The field that requests share; null where each run draws its own. */
    @Override
    public Field input(boolean kept, ParallelLoop loop) {
        Field field = kept ? Field.zero(sizes, loop) : null;
        if (kept) {
            start(null, field, loop);
        }
        return field;
    }

    @Override
    public Outcome run(Field kept, ParallelLoop loop) {
        Field spectrum = Field.zero(sizes, loop);
        Field solution = Field.zero(sizes, loop);
        start(kept, spectrum, loop);
        new BoxTransform(sizes).forward(spectrum, loop);
        long startNanos = System.nanoTime();
        List<Double> checksums = solve(kept, spectrum, solution, loop);
        boolean verified = verified(checksums);
        long nanos = System.nanoTime() - startNanos;
        return new Outcome(verified, checksums, sizes.checksums(), sizes.iterations(), nanos, millionOperations());
    }

    /** Fills the initial field, a part of the timed run: from a kept one, or random parts point after point. */
    private void start(Field kept, Field field, ParallelLoop loop) {
        Blocks.of(field.size(), 2).forEach(loop, (from, to) -> {
            if (kept == null) {
                LinearCongruential random = LinearCongruential.after(2L * from, seed);
                for (int point = from; point < to; point++) {
                    field.re()[point] = random.next();
                    field.im()[point] = random.next();
                }
            } else {
                System.arraycopy(kept.re(), from, field.re(), from, to - from);
                System.arraycopy(kept.im(), from, field.im(), from, to - from);
            }
        });
    }

    private List<Double> solve(Field kept, Field spectrum, Field solution, ParallelLoop loop) {
        Evolution evolution = new Evolution(sizes);
        BoxTransform transform = new BoxTransform(sizes);
        start(kept, spectrum, loop);
        transform.forward(spectrum, loop);
        List<Double> checksums = new ArrayList<>();
        for (int iteration = 0; iteration < sizes.iterations(); iteration++) {
            transform.inverse(solution, z -> evolution.fade(spectrum, solution, z), loop);
            checksums.add(sum(solution, solution.re()));
            checksums.add(sum(solution, solution.im()));
        }
        return checksums;
    }

    /** The sum over some points on a diagonal, normalised here, as the transform does not normalise. */
    private static double sum(Field field, double[] part) {
        double sum = 0;
        for (int j = 1; j <= CHECKED_POINTS; j++) {
            int z = 5 * j % field.nz();
            int y = 3 * j % field.ny();
            sum += part[(z * field.ny() + y) * field.nx() + j % field.nx()];
        }
        return sum / field.size();
    }

    private boolean verified(List<Double> checksums) {
        for (int i = 0; i < checksums.size(); i += 2) {
            double re = sizes.checksums().get(i);
            double im = sizes.checksums().get(i + 1);
            double distance = Math.hypot(checksums.get(i) - re, checksums.get(i + 1) - im);
            if (!(distance <= EPSILON * Math.hypot(re, im))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public double millionOperations() {
        double logSize = Math.log(sizes.size());
        double steps = (5.23518 + 7.21113 * logSize) * sizes.iterations();
        return 1e-6 * sizes.size() * (14.8157 + 7.19641 * logSize + steps);
    }

    /** The spectrum, the solution, and the batches of lines that are being transformed. */
    @Override
    public long workingBytes() {
        int longest = Math.max(sizes.nx(), Math.max(sizes.ny(), sizes.nz()));
        return 2 * keptBytes() + Blocks.MOST_AT_ONCE * Batch.bytes(longest);
    }

    @Override
    public long keptBytes() {
        return 2L * Double.BYTES * sizes.size();
    }

    /** One step in time: components fade by {@code exp(-4 alpha pi² |k|²)}, a product of factors by axis. */
    record Evolution(double[] alongX, double[] alongY, double[] alongZ) {
        private static final double ALPHA = 1e-6;

        Evolution(FourierClass sizes) {
            this(factors(sizes.nx()), factors(sizes.ny()), factors(sizes.nz()));
        }

        private static double[] factors(int points) {
            double[] factors = new double[points];
            for (int k = 0; k < points; k++) {
                double wave = (k + points / 2) % points - points / 2;
                factors[k] = Math.exp(-4 * ALPHA * Math.PI * Math.PI * wave * wave);
            }
            return factors;
        }

        /** Fades one plane of the spectrum by one step, and copies it. */
        void fade(Field spectrum, Field copy, int z) {
            for (int y = 0; y < spectrum.ny(); y++) {
                int row = z * spectrum.plane() + y * spectrum.nx();
                double factor = alongZ[z] * alongY[y];
                fade(spectrum.re(), copy.re(), row, factor);
                fade(spectrum.im(), copy.im(), row, factor);
            }
        }

        private void fade(double[] part, double[] copy, int row, double factor) {
            for (int x = 0; x < alongX.length; x++) {
                double faded = part[row + x] * (factor * alongX[x]);
                part[row + x] = faded;
                copy[row + x] = faded;
            }
        }
    }
}
