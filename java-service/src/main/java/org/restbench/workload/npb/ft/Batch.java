package org.restbench.workload.npb.ft;

/**
 * Neighbouring lines of a field, side by side, in two copies: a stage of a transform reads one and writes the other.
 * Point e of line l is at index {@code e * LANES + l} of a part. Used by one task.
 */
final class Batch {
    /** Lines in a batch: enough for long inner loops, few enough for 512 points to stay in a core's cache. */
    static final int WIDTH = 32;

    /**
     * Array elements for a point of all lines, two of them unused. Without these two, everything that a stage accesses
     * at once would lie a multiple of 4 KiB apart, in one set of the first-level cache, and take three times as long.
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

    /** The bytes of a batch of lines with this many points. */
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

    /**
     * Reads lines that lie next to each other in the field.
     *
     * @param first offset of the first line's first point
     * @param stride from a point of a line to the next
     */
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
