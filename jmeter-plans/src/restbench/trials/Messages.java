package restbench.trials;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import restbench.trials.Trial.Kind;

/**
 * The messages that users send to queues and pop from them. Each body can be verified by itself. It consists of
 * {@code queue.user.number}, a space, random text, and the CRC-32 of all of that in hexadecimal.
 *
 * @param queues number of queues; the address of each is that of the cell, followed by the queue's number, from 1
 * @param characters length of each body
 * @param sends number of messages that a user sends, each to a random queue, before it pops from the last of these
 *     queues
 * @param keys whether each request has a key
 * @param filler random text that bodies are cut from
 */
record Messages(int queues, int characters, int sends, boolean keys, String filler) {

    static final int SEND = 0;
    static final int POP = 1;
    /** A pop that found nothing. */
    static final int EMPTY = 2;

    static final List<Kind> KINDS = List.of(kind("send"), kind("pop"), kind("empty"));

    private static final String FILE = "messages.properties";
    private static final int TOKEN_BYTES = 21;
    private static final int CRC_BYTES = 8;
    /** A token is {@code user * USER + number}: the numbers of a user's messages stay below this. */
    private static final long USER = 1_000_000_000L;

    private static final String BODY = "\"body\":\"";
    private static final String ID = "\"id\":";
    private static final String CODE = "\"errorCode\":\"";
    private static final int CODE_BYTES = 3;

    private static Kind kind(String name) {
        return new Kind(name, new byte[0], new byte[0]);
    }

    /** Reads the settings in a payload's folder; null where the payload is of another kind. */
    static Messages read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.exists(file)) {
            return null;
        }
        Properties said = new Properties();
        try (var in = Files.newBufferedReader(file)) {
            said.load(in);
        }
        return new Messages(
                Integer.parseInt(said.getProperty("queues")),
                Integer.parseInt(said.getProperty("characters")),
                Integer.parseInt(said.getProperty("sends")),
                Boolean.parseBoolean(said.getProperty("keys")),
                Files.readString(folder.resolve("filler.txt"), StandardCharsets.ISO_8859_1));
    }

    /**
     * The state of one user's messages. It is kept over trials, because a message's number must never be used again.
     */
    final class Conversation {

        private final int user;
        private final SplittableRandom random;
        private final CRC32 crc = new CRC32();
        private int step;
        private int queue;
        private long number;
        private long token;

        Conversation(int user) {
            this.user = user;
            this.random = new SplittableRandom(user);
        }

        /** Starts a new round of sends and a pop, at the begin of each trial. */
        void begin() {
            step = 0;
        }

        /** Returns the kind of the next request: SEND or POP. */
        int next() {
            step = step % (sends + 1) + 1;
            token = 0;
            return step <= sends ? SEND : POP;
        }

        /** The token of the last message, made of its user and number; 0 where there was no message. */
        long token() {
            return token;
        }

        /** The complete request, head and body. */
        byte[] request(URI url, int kind, String id) {
            String key = keys ? ",\"key\":\"" + id + "\"" : "";
            String rest = ",\"client\":" + user + key + "}";
            if (kind == SEND) {
                queue = 1 + random.nextInt(queues);
                token = user * USER + ++number;
                rest = ",\"sender\":" + user + key + "," + BODY + body() + "\"}";
            }
            String json = "{\"requestId\":\"" + id + "\"" + rest;
            String request = "POST " + url.getRawPath() + queue + (kind == SEND ? "/messages" : "/pop")
                    + " HTTP/1.1\r\nHost: " + url.getAuthority()
                    + "\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: " + json.length()
                    + "\r\n\r\n" + json;
            return request.getBytes(StandardCharsets.ISO_8859_1);
        }

        /** The body of a message to {@code queue}. */
        private String body() {
            int length = characters - TOKEN_BYTES - 1 - CRC_BYTES;
            int from = random.nextInt(filler.length() - length + 1);
            String text = padded(queue, 6) + "." + padded(user, 4) + "." + padded(number, 9) + " "
                    + filler.substring(from, from + length);
            return text + crc(text);
        }

        private String crc(String text) {
            crc.reset();
            crc.update(text.getBytes(StandardCharsets.ISO_8859_1));
            return HexFormat.of().toHexDigits(crc.getValue(), CRC_BYTES);
        }

        /**
         * What is wrong with the body of the answer to the last request; empty where nothing is. The members after the
         * requestId may be in any order.
         */
        String fault(String answer, int kind, String id) {
            if (!answer.startsWith("{\"requestId\":\"" + id + "\",") || !answer.endsWith("}")) {
                return "not the JSON of this request's id";
            }
            int at = after(answer, ID);
            if (at < 0) {
                return "an answer without an id";
            }
            if (kind == EMPTY || kind == SEND) {
                boolean isNumber = answer.charAt(at) >= '1' && answer.charAt(at) <= '9';
                return isNumber == (kind == SEND) ? "" : "not the id of a message";
            }
            return faultOfMessage(answer, after(answer, BODY));
        }

        /** Whether an answer to a pop says that nothing was there. */
        boolean isEmpty(String answer) {
            return answer.startsWith("null", after(answer, ID));
        }

        /** The contract's code of a refusal, such as 14; 0 where it has none. */
        int code(String answer) {
            int at = after(answer, CODE);
            return at < 0 || at + CODE_BYTES > answer.length() ? 0 : (int) number(answer, at, CODE_BYTES);
        }

        /** Checks a popped message by the rules R4 (not altered) and R5 (not misrouted). */
        private String faultOfMessage(String answer, int from) {
            if (from < 0 || from + characters >= answer.length() || answer.charAt(from + characters) != '"') {
                return "R4: a message of another length";
            }
            int crcAt = from + characters - CRC_BYTES;
            if (!answer.startsWith(crc(answer.substring(from, crcAt)), crcAt)) {
                return "R4: a message that was altered";
            }
            token = number(answer, from + 7, 4) * USER + number(answer, from + 12, 9);
            return number(answer, from, 6) == queue ? "" : "R5: a message of another queue";
        }
    }

    /** A number with leading zeros. */
    private static String padded(long number, int digits) {
        String text = Long.toString(number);
        return "0".repeat(digits - text.length()) + text;
    }

    private static long number(String text, int at, int digits) {
        long value = 0;
        for (int place = at; place < at + digits; place++) {
            value = 10 * value + text.charAt(place) - '0';
        }
        return value;
    }

    /** The index after the first occurrence of {@code wanted}; -1 where there is none. */
    private static int after(String text, String wanted) {
        int at = text.indexOf(wanted);
        return at < 0 ? -1 : at + wanted.length();
    }
}
