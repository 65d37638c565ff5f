package restbench.trials;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import restbench.trials.Trial.Kind;
import restbench.trials.Trial.Records;

/**
 * One user: keeps a connection to each service, sends one request after the other, and compares each answer with the
 * only right one while it arrives. Heads are read as bytes: strings would cost this process almost as much as a small
 * request costs the service.
 */
final class User {

    /** Outcomes as they are recorded. */
    static final int CORRECT = 0;

    static final int ERROR = 1;
    static final int WRONG = 2;

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final byte[] LENGTH = bytes("content-length:");
    private static final byte[] TIMING = bytes("server-timing:");
    private static final byte[] CLOSE = bytes("connection: close");
    private static final byte[][] STAGE_NAMES = {
        bytes("queue;"), bytes("parse;"), bytes("compute;"), bytes("serialize;"), bytes("connection;"), bytes("database;")
    };
    private static final byte[] BEFORE_ID = bytes("{\"requestId\":\"");
    private static final byte[] AFTER_ID = bytes("\",");
    /** The length of every id, such as {@code u060-000000000}, so that a request's head is the same each time. */
    private static final int ID_BYTES = 14;

    /**
     * The fragment of an address says how long its connections last: a trial, or a request. Without one: over trials.
     */
    private static final String RENEWED = "renewed";

    private static final String EACH = "each";

    /** The characters of a refusal's text that an error shows. */
    private static final int SHOWN_CHARACTERS = 200;

    /** A service may close a connection that was idle for longer. */
    private static final long LONGEST_IDLE_NANOS = TimeUnit.SECONDS.toNanos(15);

    /** The pause of a user after a request without an answer. */
    private static final long AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final int number;
    private final int connectTimeoutMs;
    private final int responseTimeoutMs;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final byte[] id;
    private final float[] stages = new float[STAGE_NAMES.length];
    private final Map<String, Socket> sockets = new HashMap<>();
    private final Map<String, byte[]> heads = new HashMap<>();
    private final Records records = new Records();
    private final Map<Messages, Messages.Conversation> conversations = new IdentityHashMap<>();

    /** The messages of the current trial; null where it sends none. */
    private Messages.Conversation own;

    private long usedNanos = System.nanoTime();

    /** The length of the current answer's body, -1 for unknown; the next field: whether its connection then closes. */
    private long bodyBytes;

    private boolean last;

    User(int number, int connectTimeoutMs, int responseTimeoutMs) {
        this.number = number;
        this.connectTimeoutMs = connectTimeoutMs;
        this.responseTimeoutMs = responseTimeoutMs;
        this.id = bytes(String.format("u%03d-%09d", number + 1, 0));
    }

    int number() {
        return number;
    }

    /** Called for a trial without this user: a connection kept from an earlier trial would count among this one's. */
    void sitOut(Trial trial) {
        if (RENEWED.equals(trial.cell().url(number).getFragment())) {
            close();
        }
    }

    /** Runs this user's part of a trial. */
    void take(Trial trial) {
        records.clear();
        Messages messages = trial.cell().messages();
        own = messages == null ? null : conversations.computeIfAbsent(messages, its -> its.new Conversation(number + 1));
        if (own != null) {
            own.begin();
        }
        boolean isIdle = trial.beginNanos() - usedNanos > LONGEST_IDLE_NANOS;
        if (isIdle || RENEWED.equals(trial.cell().url(number).getFragment())) {
            close();
        }
        try {
            for (long due = trial.next(); due != -1; due = trial.next()) {
                request(trial, due);
            }
        } finally {
            usedNanos = System.nanoTime();
            trial.leave(records);
        }
    }

    private void request(Trial trial, long due) {
        int place = own == null ? trial.cell().nextKind() : own.next();
        Kind kind = trial.cell().kinds().get(place);
        URI url = trial.cell().url(number);
        Arrays.fill(stages, Float.NaN);
        countUp();
        int status = 0;
        int outcome = ERROR;
        int code = 0;
        long lateMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - due);
        long firstByte = due;
        try {
            Socket socket = connection(url);
            if (own == null) {
                send(socket.getOutputStream(), head(url, kind), kind.rest());
            } else {
                socket.getOutputStream().write(own.request(url, place, text(id)));
            }
            InputStream in = socket.getInputStream();
            int filled = in.read(buffer);
            firstByte = System.nanoTime();
            int end = endOfHead(0, filled);
            while (end < 0) {
                int read = filled < 0 || filled == BUFFER_BYTES ? -1 : in.read(buffer, filled, BUFFER_BYTES - filled);
                if (read < 0) {
                    throw new EOFException("the connection ended in the head of an answer");
                }
                end = endOfHead(Math.max(0, filled - 3), filled + read);
                filled += read;
            }
            status = readHead(end);
            if (bodyBytes < 0) {
                throw new IOException("status " + status + ", and the answer does not say its length");
            }
            String fault;
            if (own == null) {
                fault = receive(in, end, filled, kind) ? "" : "the body is not this request's id with the exact answer";
            } else {
                String answer = whole(in, end, filled);
                place = place == Messages.POP && own.isEmpty(answer) ? Messages.EMPTY : place;
                fault = status == 200
                        ? own.fault(answer, place, text(id))
                        : answer.substring(0, Math.min(SHOWN_CHARACTERS, answer.length()));
                code = status == 200 ? 0 : own.code(answer);
            }
            outcome = status != 200 ? ERROR : fault.isEmpty() ? CORRECT : WRONG;
            if (outcome != CORRECT) {
                trial.noteError(status == 200 ? fault : "status " + status + (own == null ? "" : " " + fault));
            }
            if (last || EACH.equals(url.getFragment())) {
                disconnect(url);
            }
        } catch (IOException e) {
            trial.noteError(e.toString());
            disconnect(url);
            LockSupport.parkNanos(AFTER_FAILURE_NANOS);
        }
        long now = System.nanoTime();
        long token = own == null ? 0 : own.token();
        records.add(
                due - trial.beginNanos(), now - due, firstByte - due, status, outcome, place, number, lateMillis, stages, token, code);
    }

    private void countUp() {
        for (int at = ID_BYTES - 1; at > 4; at--) {
            if (id[at]++ < '9') {
                return;
            }
            id[at] = '0';
        }
    }

    private byte[] head(URI url, Kind kind) {
        return heads.computeIfAbsent(url + " " + kind.name(), key -> {
            int length = BEFORE_ID.length + ID_BYTES + AFTER_ID.length + kind.rest().length;
            String path = url.getRawPath() + (url.getRawQuery() == null ? "" : "?" + url.getRawQuery());
            return bytes("POST " + path + " HTTP/1.1\r\nHost: " + url.getAuthority()
                    + "\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: " + length
                    + "\r\n\r\n");
        });
    }

    /** Sends a small request in a single write; the rest of a large one comes from the array that all users share. */
    private void send(OutputStream out, byte[] head, byte[] rest) throws IOException {
        ByteBuffer first = ByteBuffer.wrap(buffer).put(head).put(BEFORE_ID).put(id).put(AFTER_ID);
        int fits = Math.min(rest.length, first.remaining());
        first.put(rest, 0, fits);
        out.write(buffer, 0, first.position());
        if (fits < rest.length) {
            out.write(rest, fits, rest.length - fits);
        }
    }

    /** The index at which the body begins; -1 where the head is not complete. */
    private int endOfHead(int from, int filled) {
        for (int at = from; at + 3 < filled; at++) {
            if (buffer[at] == '\r' && buffer[at + 1] == '\n' && buffer[at + 2] == '\r' && buffer[at + 3] == '\n') {
                return at + 4;
            }
        }
        return -1;
    }

    /** Reads the head, which ends before {@code end}, into the fields; returns the status. */
    private int readHead(int end) throws IOException {
        if (end < 12 || buffer[0] != 'H' || buffer[8] != ' ') {
            throw new IOException("no HTTP/1.1 answer: " + new String(buffer, 0, Math.min(end, 40), StandardCharsets.ISO_8859_1));
        }
        int status = 100 * (buffer[9] - '0') + 10 * (buffer[10] - '0') + buffer[11] - '0';
        bodyBytes = -1;
        last = false;
        for (int at = 12; at < end; at++) {
            if (buffer[at] != '\n') {
                continue;
            }
            int line = at + 1;
            if (startsWith(line, LENGTH)) {
                bodyBytes = (long) number(line + LENGTH.length, end);
            } else if (startsWith(line, TIMING)) {
                readStages(line + TIMING.length, end);
            } else if (startsWith(line, CLOSE)) {
                last = true;
            }
        }
        return status;
    }

    /** Whether the text at an index begins with {@code lower}, in any case. */
    private boolean startsWith(int at, byte[] lower) {
        for (int place = 0; place < lower.length; place++) {
            int letter = buffer[at + place];
            if ((letter >= 'A' && letter <= 'Z' ? letter + 32 : letter) != lower[place]) {
                return false;
            }
        }
        return true;
    }

    /** Reads {@code queue;dur=0.012, parse;dur=...} up to the end of the line. */
    private void readStages(int from, int end) {
        for (int at = from; at < end && buffer[at] != '\r'; at++) {
            for (int stage = 0; stage < STAGE_NAMES.length; stage++) {
                if (startsWith(at, STAGE_NAMES[stage])) {
                    stages[stage] = (float) number(at + STAGE_NAMES[stage].length + 4, end);
                }
            }
        }
    }

    /** Parses a number without sign or exponent, after spaces. */
    private double number(int from, int end) {
        int at = from;
        while (at < end && buffer[at] == ' ') {
            at++;
        }
        double value = 0;
        double place = 0;
        for (; at < end; at++) {
            int letter = buffer[at];
            if (letter == '.' && place == 0) {
                place = 1;
            } else if (letter >= '0' && letter <= '9') {
                value = 10 * value + letter - '0';
                place *= 10;
            } else {
                break;
            }
        }
        return place > 0 ? value / place : value;
    }

    /** Reads the body and returns whether it is the only right one. */
    private boolean receive(InputStream in, int from, int filled, Kind kind) throws IOException {
        byte[][] parts = {BEFORE_ID, id, AFTER_ID, kind.answer()};
        long expected = 0;
        for (byte[] part : parts) {
            expected += part.length;
        }
        boolean same = bodyBytes == expected;
        int part = 0;
        int offset = 0;
        int at = from;
        int there = filled;
        long left = bodyBytes;
        while (true) {
            int length = (int) Math.min(there - at, left);
            left -= length;
            while (same && length > 0) {
                int step = Math.min(length, parts[part].length - offset);
                same = Arrays.equals(buffer, at, at + step, parts[part], offset, offset + step);
                at += step;
                length -= step;
                offset += step;
                if (offset == parts[part].length) {
                    part++;
                    offset = 0;
                }
            }
            if (left == 0) {
                return same;
            }
            at = 0;
            there = in.read(buffer, 0, (int) Math.min(left, BUFFER_BYTES));
            if (there < 0) {
                throw new EOFException("the connection ended " + left + " bytes before the end of an answer");
            }
        }
    }

    /** Reads the body, which is small enough to be kept. */
    private String whole(InputStream in, int from, int filled) throws IOException {
        byte[] body = new byte[(int) bodyBytes];
        int there = Math.min(filled - from, body.length);
        System.arraycopy(buffer, from, body, 0, there);
        if (in.readNBytes(body, there, body.length - there) < body.length - there) {
            throw new EOFException("the connection ended before the end of an answer");
        }
        return text(body);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private Socket connection(URI url) throws IOException {
        String authority = url.getAuthority();
        Socket known = sockets.get(authority);
        if (known != null) {
            return known;
        }
        Socket socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(responseTimeoutMs);
            int port = url.getPort() < 0 ? 80 : url.getPort();
            socket.connect(new InetSocketAddress(url.getHost(), port), connectTimeoutMs);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        sockets.put(authority, socket);
        return socket;
    }

    private void disconnect(URI url) {
        close(sockets.remove(url.getAuthority()));
    }

    /** Ends every connection. */
    void close() {
        sockets.values().forEach(User::close);
        sockets.clear();
    }

    private static void close(Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            // The connection is not used any more.
            return;
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
