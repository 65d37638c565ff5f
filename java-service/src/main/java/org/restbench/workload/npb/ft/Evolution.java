package org.restbench.workload.npb.ft;

/**
 * One step in time of the spectrum: each component fades by {@code exp(-4 alpha pi² |k|²)}. The factor of a component
 * is the product of one factor for each axis.
 */
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
