package org.restbench.web;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.function.IntConsumer;
import org.restbench.memory.MemoryBudget;

/** Reads a request's body into one array, never more of it than the limit and than there is memory for. */
final class BodyReader {
    /** An announced length is believed up to here; beyond, memory grows with what really arrives. */
    private static final int BELIEVED_BYTES = 1 << 20;

    /** Where no length is announced. */
    private static final int FIRST_BYTES = 1 << 16;

    /**
     * Bytes of memory for a byte of the body: itself, and twice that again while it is received (an array grows by a
     * copy) or read as JSON (names of members, strings without their escapes).
     */
    private static final long BYTES_PER_BYTE = 3;

    /** For what does not follow from the body: the tasks of a loop, 100 bytes each, buffers, the request itself. */
    private static final long BYTES_PER_REQUEST = 384 << 10;

    private final int limitBytes;
    private final MemoryBudget memory;

    BodyReader(int limitBytes, MemoryBudget memory) {
        this.limitBytes = limitBytes;
        this.memory = memory;
    }

    /** @throws Refused 007 where the announced length alone is over the limit: nothing has been read then */
    void requireWithinLimit(HttpServletRequest request) {
        if (request.getContentLengthLong() > limitBytes) {
            throw Refused.tooLarge(limitBytes);
        }
    }

    /**
     * The memory for a body, before any of it is read.
     *
     * @throws org.restbench.memory.MemoryRefused where it does not fit
     */
    MemoryBudget.Hold hold(HttpServletRequest request) {
        long announced = request.getContentLengthLong();
        return memory.hold(BYTES_PER_REQUEST + BYTES_PER_BYTE * (announced < 0 ? FIRST_BYTES : announced));
    }

    /**
     * The body, whole.
     *
     * @param hold what {@link #hold} gave; grows with a body of unknown length
     * @throws Refused 007 where more arrives than the limit, 002 where the body is cut off
     */
    byte[] read(HttpServletRequest request, MemoryBudget.Hold hold) {
        int announced = (int) request.getContentLengthLong();
        byte[] bytes;
        try {
            bytes = announced < 0
                    ? readUpTo(limitBytes + 1, FIRST_BYTES, more -> hold.grow(BYTES_PER_BYTE * more), request)
                    : readUpTo(announced, BELIEVED_BYTES, more -> {}, request);
        } catch (IOException cutOff) {
            throw Refused.cutOff();
        }
        if (bytes.length > limitBytes) {
            throw Refused.tooLarge(limitBytes);
        }
        if (bytes.length < announced) {
            throw Refused.cutOff();
        }
        return bytes;
    }

    /**
     * Never asks the stream for 0 bytes, as {@code InputStream.readNBytes(int)} does: Tomcat's then waits for one.
     *
     * @param room is told how many bytes the array is about to grow by
     */
    private static byte[] readUpTo(int most, int first, IntConsumer room, HttpServletRequest request)
            throws IOException {
        InputStream in = request.getInputStream();
        byte[] bytes = new byte[Math.min(most, first)];
        int have = in.readNBytes(bytes, 0, bytes.length);
        while (have == bytes.length && have < most) {
            int capacity = (int) Math.min(most, 2L * have);
            room.accept(capacity - have);
            bytes = Arrays.copyOf(bytes, capacity);
            have += in.readNBytes(bytes, have, capacity - have);
        }
        return have == bytes.length ? bytes : Arrays.copyOf(bytes, have);
    }
}
