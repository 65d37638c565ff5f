package restbench.streaming;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * One user's HTTP/1.1 connection, kept from request to request. Bodies go out from the array they are in, and an answer is
 * looked at as it arrives, so that a request costs a buffer and no copy of either.
 */
final class Connection implements Closeable {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final byte[] END_OF_HEAD = {'\r', '\n', '\r', '\n'};

    private final Socket socket = new Socket();
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private InputStream in;
    private OutputStream out;

    /** Connects; a read that gets no byte for {@code responseTimeoutMs} fails. */
    Connection(InetSocketAddress address, int connectTimeoutMs, int responseTimeoutMs) throws IOException {
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(responseTimeoutMs);
            socket.connect(address, connectTimeoutMs);
            in = socket.getInputStream();
            out = socket.getOutputStream();
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Sends the head of a request and its body, which is in two parts; a small one in a single write. */
    void send(byte[] head, byte[] id, byte[] rest) throws IOException {
        int together = head.length + id.length;
        System.arraycopy(head, 0, buffer, 0, head.length);
        System.arraycopy(id, 0, buffer, head.length, id.length);
        int fits = Math.min(rest.length, BUFFER_BYTES - together);
        System.arraycopy(rest, 0, buffer, together, fits);
        out.write(buffer, 0, together + fits);
        out.write(rest, fits, rest.length - fits);
    }

    /**
     * Reads an answer's head, then its body into {@code body}.
     *
     * @param onHead told when the head is there, before the body
     * @throws IOException also where the answer is no HTTP, or does not say its length: no service of the suite leaves it out
     */
    Head receive(Expected body, Runnable onHead) throws IOException {
        int filled = 0;
        int end;
        do {
            int read = filled == BUFFER_BYTES ? -1 : in.read(buffer, filled, BUFFER_BYTES - filled);
            if (read < 0) {
                throw new EOFException("the connection ended in the head of an answer, after " + filled + " bytes");
            }
            end = endOfHead(Math.max(0, filled - END_OF_HEAD.length), filled + read);
            filled += read;
        } while (end < 0);
        onHead.run();
        Head head = Head.parse(new String(buffer, 0, end, StandardCharsets.ISO_8859_1));
        receiveBody(head.length(), end, filled - end, body);
        return head;
    }

    private void receiveBody(long length, int from, int there, Expected body) throws IOException {
        int first = (int) Math.min(there, length);
        body.take(buffer, from, first);
        long left = length - first;
        while (left > 0) {
            int read = in.read(buffer, 0, (int) Math.min(left, BUFFER_BYTES));
            if (read < 0) {
                throw new EOFException("the connection ended " + left + " bytes before the end of an answer");
            }
            body.take(buffer, 0, read);
            left -= read;
        }
    }

    /** Where the body begins; -1 as long as the head goes on. */
    private int endOfHead(int from, int filled) {
        for (int end = from + END_OF_HEAD.length; end <= filled; end++) {
            if (buffer[end - 1] == '\n' && buffer[end - 2] == '\r' && buffer[end - 3] == '\n' && buffer[end - 4] == '\r') {
                return end;
            }
        }
        return -1;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
