package org.restbench.workload.npb.ft;

import org.restbench.workload.ParallelLoop;

/** Complex numbers on a box of points, x fastest: {@code nx * ny * nz} real and imaginary parts. */
record Field(int nx, int ny, int nz, double[] re, double[] im) {
    static Field zero(FourierClass sizes, ParallelLoop loop) {
        return new Field(sizes.nx(), sizes.ny(), sizes.nz(), loop.doubles(sizes.size()), loop.doubles(sizes.size()));
    }

    /** The same numbers with real and imaginary parts exchanged, not copied. */
    Field exchanged() {
        return new Field(nx, ny, nz, im, re);
    }

    int plane() {
        return nx * ny;
    }

    int size() {
        return plane() * nz;
    }
}
