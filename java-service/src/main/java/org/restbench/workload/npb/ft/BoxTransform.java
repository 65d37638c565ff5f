package org.restbench.workload.npb.ft;

import java.util.function.IntConsumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/** The three-dimensional discrete Fourier transform, not normalised, in place. Holds only tables. */
record BoxTransform(LineTransform alongX, LineTransform alongY, LineTransform alongZ) {
    BoxTransform(FourierClass sizes) {
        this(new LineTransform(sizes.nx()), new LineTransform(sizes.ny()), new LineTransform(sizes.nz()));
    }

    void forward(Field field, ParallelLoop loop) {
        transform(field, z -> {}, loop);
    }

    /** @param prepare called with each plane's z by the task that transforms it, while it is in the core's cache */
    void inverse(Field field, IntConsumer prepare, ParallelLoop loop) {
        transform(field.exchanged(), prepare, loop);
    }

    private void transform(Field field, IntConsumer prepare, ParallelLoop loop) {
        Blocks.of(field.nz(), field.plane()).forEach(loop, (from, to) -> {
            Batch batch = new Batch(Math.max(field.nx(), field.ny()));
            for (int z = from; z < to; z++) {
                prepare.accept(z);
                alongX(field, z, batch);
                alongY(field, z, batch);
            }
        });
        Blocks.of(field.ny(), (long) field.nx() * field.nz()).forEach(loop, (from, to) -> {
            Batch batch = new Batch(field.nz());
            for (int y = from; y < to; y++) {
                alongZ(field, y, batch);
            }
        });
    }

    private void alongX(Field field, int z, Batch batch) {
        for (int y = 0; y < field.ny(); y += Batch.WIDTH) {
            int first = z * field.plane() + y * field.nx();
            batch.readAlong(field, first, field.nx());
            alongX.forward(batch);
            batch.writeAlong(field, first, field.nx());
        }
    }

    private void alongY(Field field, int z, Batch batch) {
        for (int x = 0; x < field.nx(); x += Batch.WIDTH) {
            across(alongY, field, z * field.plane() + x, field.nx(), batch);
        }
    }

    private void alongZ(Field field, int y, Batch batch) {
        for (int x = 0; x < field.nx(); x += Batch.WIDTH) {
            across(alongZ, field, y * field.nx() + x, field.plane(), batch);
        }
    }

    private static void across(LineTransform transform, Field field, int first, int stride, Batch batch) {
        batch.readAcross(field, first, stride, transform.points);
        transform.forward(batch);
        batch.writeAcross(field, first, stride, transform.points);
    }

    /**
     * The discrete Fourier transform of a batch of lines, not normalised, by Stockham's algorithm, which needs no
     * reordering. The stages have radix 4; where the length is an odd power of two, the last one has radix 2. The
     * inverse is the same transform with real and imaginary parts exchanged.
     */
    static final class LineTransform {
        final int points;
        /** {@code exp(-2 pi i k / points)}, each computed from its own angle: a recurrence would lose digits. */
        private final double[] cos;

        private final double[] sin;

        /** @param points a power of two, at least 4 */
        LineTransform(int points) {
            this.points = points;
            cos = new double[points];
            sin = new double[points];
            for (int k = 0; k < points; k++) {
                cos[k] = Math.cos(2 * Math.PI * k / points);
                sin[k] = -Math.sin(2 * Math.PI * k / points);
            }
        }

        /** Transforms all lines; the result is what the batch reads next. */
        void forward(Batch batch) {
            int run = Batch.LANES;
            int length = points;
            for (; length >= 4; length /= 4, run *= 4) {
                for (int p = 0; p < length / 4; p++) {
                    butterflies(batch, p, length, run);
                }
                batch.swap();
            }
            if (length == 2) {
                sumsAndDifferences(batch, run);
                batch.swap();
            }
        }

        /** Radix 4: combines points p, p + length/4, … of the interleaved sub-transforms of this length. */
        private void butterflies(Batch batch, int p, int length, int run) {
            int root = p * (points / length);
            double c1 = cos[root];
            double s1 = sin[root];
            double c2 = cos[2 * root];
            double s2 = sin[2 * root];
            double c3 = cos[3 * root];
            double s3 = sin[3 * root];
            double[] x = batch.data;
            int quarter = run * (length / 4);
            int re = batch.re + run * p;
            int im = batch.im + run * p;
            int toRe = batch.nextRe + 4 * run * p;
            int toIm = batch.nextIm + 4 * run * p;
            for (int q = 0; q < run; q++) {
                double aRe = x[re + q];
                double aIm = x[im + q];
                double bRe = x[re + quarter + q];
                double bIm = x[im + quarter + q];
                double cRe = x[re + 2 * quarter + q];
                double cIm = x[im + 2 * quarter + q];
                double dRe = x[re + 3 * quarter + q];
                double dIm = x[im + 3 * quarter + q];
                double evenRe = aRe + cRe;
                double evenIm = aIm + cIm;
                double oddRe = bRe + dRe;
                double oddIm = bIm + dIm;
                double halfRe = aRe - cRe;
                double halfIm = aIm - cIm;
                double turnedRe = bIm - dIm; // -i (b - d)
                double turnedIm = dRe - bRe;
                x[toRe + q] = evenRe + oddRe;
                x[toIm + q] = evenIm + oddIm;
                double re1 = halfRe + turnedRe;
                double im1 = halfIm + turnedIm;
                x[toRe + run + q] = c1 * re1 - s1 * im1;
                x[toIm + run + q] = c1 * im1 + s1 * re1;
                double re2 = evenRe - oddRe;
                double im2 = evenIm - oddIm;
                x[toRe + 2 * run + q] = c2 * re2 - s2 * im2;
                x[toIm + 2 * run + q] = c2 * im2 + s2 * re2;
                double re3 = halfRe - turnedRe;
                double im3 = halfIm - turnedIm;
                x[toRe + 3 * run + q] = c3 * re3 - s3 * im3;
                x[toIm + 3 * run + q] = c3 * im3 + s3 * re3;
            }
        }

        /** Radix 2, the last stage, which has no factors. */
        private static void sumsAndDifferences(Batch batch, int run) {
            sumAndDifference(batch.data, batch.re, batch.nextRe, run);
            sumAndDifference(batch.data, batch.im, batch.nextIm, run);
        }

        private static void sumAndDifference(double[] x, int from, int to, int run) {
            for (int q = 0; q < run; q++) {
                double sum = x[from + q] + x[from + run + q];
                double difference = x[from + q] - x[from + run + q];
                x[to + q] = sum;
                x[to + run + q] = difference;
            }
        }
    }

    /**
     * Neighbouring lines of a field, side by side, in two copies: a stage of a transform reads one and writes the
     * other. Point e of line l is at index {@code e * LANES + l} of a part. Used by one task.
     */
    static final class Batch {
        /** Lines in a batch: enough for long inner loops, few enough for 512 points to stay in a core's cache. */
        static final int WIDTH = 32;

        /**
         * Array elements for a point of all lines, two of them unused. Without these two, everything that a stage
         * accesses at once would lie a multiple of 4 KiB apart, in one set of the first-level cache, and take three
         * times as long.
         */
        static final int LANES = WIDTH + 2;

        /** Unused elements between the parts, for the same reason. */
        private static final int GAP = 32;

        private static final int PARTS = 4;

        final double[] data;
        /** The index at which each part begins. */
        int re;

        int im;
        int nextRe;
        int nextIm;

        /** @param points largest number of points of a line */
        Batch(int points) {
            int part = part(points);
            data = new double[PARTS * part];
            im = part;
            nextRe = 2 * part;
            nextIm = 3 * part;
        }

        static long bytes(int points) {
            return (long) Double.BYTES * PARTS * part(points);
        }

        private static int part(int points) {
            return points * LANES + GAP;
        }

        /** Exchanges the two copies: what was written is read next. */
        void swap() {
            int doneRe = re;
            re = nextRe;
            nextRe = doneRe;
            int doneIm = im;
            im = nextIm;
            nextIm = doneIm;
        }

        /** Reads lines that lie side by side, from a first point's offset, in strides from point to point. */
        void readAcross(Field field, int first, int stride, int points) {
            for (int e = 0; e < points; e++) {
                System.arraycopy(field.re(), first + e * stride, data, re + e * LANES, WIDTH);
                System.arraycopy(field.im(), first + e * stride, data, im + e * LANES, WIDTH);
            }
        }

        void writeAcross(Field field, int first, int stride, int points) {
            for (int e = 0; e < points; e++) {
                System.arraycopy(data, re + e * LANES, field.re(), first + e * stride, WIDTH);
                System.arraycopy(data, im + e * LANES, field.im(), first + e * stride, WIDTH);
            }
        }

        /** Reads lines that follow one another in the field, each of them contiguous. */
        void readAlong(Field field, int first, int points) {
            for (int l = 0; l < WIDTH; l++) {
                spread(field.re(), first + l * points, points, re + l);
                spread(field.im(), first + l * points, points, im + l);
            }
        }

        private void spread(double[] line, int from, int points, int to) {
            for (int e = 0; e < points; e++) {
                data[to + e * LANES] = line[from + e];
            }
        }

        void writeAlong(Field field, int first, int points) {
            for (int l = 0; l < WIDTH; l++) {
                gather(re + l, field.re(), first + l * points, points);
                gather(im + l, field.im(), first + l * points, points);
            }
        }

        private void gather(int from, double[] line, int to, int points) {
            for (int e = 0; e < points; e++) {
                line[to + e] = data[from + e * LANES];
            }
        }
    }
}
