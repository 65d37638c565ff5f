package org.restbench.web;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads a request's body into one array, never more of it than the limit. */
final class BodyReader {
    /** An announced length is believed up to here; beyond, memory grows with what really arrives. */
    private static final int BELIEVED_BYTES = 1 << 20;

    private final int limitBytes;

    BodyReader(int limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** @throws Refused 007 where the announced length alone is over the limit: nothing has been read then */
    void requireWithinLimit(HttpServletRequest request) {
        if (request.getContentLengthLong() > limitBytes) {
            throw Refused.tooLarge(limitBytes);
        }
    }

    /**
     * The body, whole.
     *
     * @throws Refused 007 where more arrives than the limit, 002 where the body is cut off
     */
    byte[] read(HttpServletRequest request) {
        int announced = (int) request.getContentLengthLong();
        byte[] bytes;
        try {
            bytes = readUpTo(announced < 0 ? limitBytes + 1 : announced, request.getInputStream());
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

    /** Never asks the stream for 0 bytes, as {@code InputStream.readNBytes(int)} does: Tomcat's then waits for one. */
    private static byte[] readUpTo(int most, InputStream in) throws IOException {
        byte[] bytes = new byte[Math.min(most, BELIEVED_BYTES)];
        int have = in.readNBytes(bytes, 0, bytes.length);
        while (have == bytes.length && have < most) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(most, 2L * have));
            have += in.readNBytes(bytes, have, bytes.length - have);
        }
        return have == bytes.length ? bytes : Arrays.copyOf(bytes, have);
    }
}
