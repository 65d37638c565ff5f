package org.restbench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** HTTP by hand, for requests that no client library sends. */
final class RawHttp {
    private RawHttp() {}

    /** How much of an answer is read. */
    @FunctionalInterface
    private interface Reading {
        byte[] from(InputStream in) throws IOException;
    }

    /** Sends bytes as they are and reads until the service closes the connection. */
    static String all(RunningService to, String request) throws IOException {
        return exchange(to, request, InputStream::readAllBytes);
    }

    /** Sends bytes as they are and reads up to the end of the first JSON object. */
    static String first(RunningService to, String request) throws IOException {
        return exchange(to, request, in -> {
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            for (int next = in.read(); next >= 0 && next != '}'; next = in.read()) {
                answer.write(next);
            }
            return answer.toByteArray();
        });
    }

    /** A request with a body in JSON. */
    static String post(String target, String body) {
        return "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
    }

    /** The head of the multiplication, and the first bytes of its body. */
    static byte[] multiplication(String strategy, int bodyBytes) {
        String whole = post("/matrix/" + strategy, RunningService.BODY);
        int end = whole.length() - RunningService.BODY.length() + bodyBytes;
        return whole.substring(0, end).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns when nobody listens there. */
    static void awaitRefusal(int port) throws InterruptedException {
        while (true) {
            try {
                new Socket("127.0.0.1", port).close();
                Thread.sleep(10);
            } catch (IOException refused) {
                return;
            }
        }
    }

    private static String exchange(RunningService to, String request, Reading reading) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", to.port())) {
            socket.setSoTimeout(60_000);
            OutputStream out = socket.getOutputStream();
            out.write(request.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
            return new String(reading.from(socket.getInputStream()), StandardCharsets.UTF_8);
        }
    }
}
