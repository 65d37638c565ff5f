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

    /** @throws Refused 007 where more arrives than the limit, 002 where the body is cut off */
    byte[] read(HttpServletRequest request) {
        int announced = (int) request.getContentLengthLong();
        try {
            return announced < 0 ? unannounced(request.getInputStream()) : announced(request.getInputStream(), announced);
        } catch (IOException cutOff) {
            throw Refused.cutOff();
        }
    }

    private byte[] unannounced(InputStream in) throws IOException {
        byte[] bytes = in.readNBytes(limitBytes + 1);
        if (bytes.length > limitBytes) {
            throw Refused.tooLarge(limitBytes);
        }
        return bytes;
    }

    private static byte[] announced(InputStream in, int length) throws IOException {
        byte[] bytes = new byte[Math.min(length, BELIEVED_BYTES)];
        int have = in.readNBytes(bytes, 0, bytes.length);
        while (have == bytes.length && have < length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * have));
            have += in.readNBytes(bytes, have, bytes.length - have);
        }
        if (have < length) {
            throw new IOException("cut off");
        }
        return bytes;
    }
}
