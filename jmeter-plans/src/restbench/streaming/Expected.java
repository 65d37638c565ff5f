package restbench.streaming;

import java.util.Arrays;

/** The only right answer to a request, held against what arrives piece by piece: neither is ever put together in memory. */
final class Expected {

    private final byte[][] parts;
    private int part;
    private int offset;
    private boolean same = true;

    /** The answer is these parts, one after the other. */
    Expected(byte[]... parts) {
        this.parts = parts;
    }

    /** Holds the next {@code length} bytes of what arrived against the answer. */
    void take(byte[] bytes, int from, int length) {
        int taken = 0;
        while (same && taken < length) {
            if (part == parts.length) {
                same = false;
                return;
            }
            int step = Math.min(length - taken, parts[part].length - offset);
            int start = from + taken;
            same = Arrays.equals(bytes, start, start + step, parts[part], offset, offset + step);
            taken += step;
            advance(step);
        }
    }

    private void advance(int step) {
        offset += step;
        if (offset == parts[part].length) {
            part++;
            offset = 0;
        }
    }

    /** Whether all of the answer has arrived, and nothing else. */
    boolean complete() {
        return same && part == parts.length;
    }
}
