package org.restbench.workload.npb.ft;

/**
 * The discrete Fourier transform of a batch of lines, not normalised, by Stockham's algorithm, which needs no
 * reordering. The stages have radix 4; where the length is an odd power of two, the last one has radix 2. The inverse
 * is the same transform with real and imaginary parts exchanged.
 */
final class LineTransform {
    private final int points;
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

    int points() {
        return points;
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

    /**
     * Radix 4: combines the points p, p + length/4, … of all sub-transforms of {@code length} points, interleaved in
     * runs.
     */
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
