package restbench.streaming;

import java.io.IOException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the load generator looks at in the head of an answer.
 *
 * @param bytes the head's own size
 * @param length the body's
 * @param serverTiming the stages by the service's own clock; empty where it told none
 * @param last whether the service ends the connection after this answer
 */
record Head(int bytes, int status, String reason, long length, String serverTiming, boolean last) {

    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] (\\d{3})(?: ([^\\r\\n]*))?\\r\\n");

    /** Reads a whole head, its empty line included. */
    static Head parse(String text) throws IOException {
        Matcher status = STATUS.matcher(text);
        if (!status.lookingAt()) {
            throw new IOException("no HTTP/1.1 answer: " + text.substring(0, Math.min(text.length(), 40)).strip());
        }
        String length = "";
        String serverTiming = "";
        boolean last = false;
        for (String line : text.substring(status.end()).split("\r\n")) {
            int colon = line.indexOf(':');
            String value = line.substring(colon + 1).strip();
            switch (line.substring(0, Math.max(0, colon)).toLowerCase(Locale.ROOT)) {
                case "content-length" -> length = value;
                case "server-timing" -> serverTiming = value;
                case "connection" -> last = value.equalsIgnoreCase("close");
                default -> {}
            }
        }
        String reason = status.group(2) == null ? "" : status.group(2);
        return new Head(text.length(), Integer.parseInt(status.group(1)), reason, lengthOf(length), serverTiming, last);
    }

    private static long lengthOf(String value) throws IOException {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IOException("the answer does not say its length: Content-Length '" + value + "'", e);
        }
    }
}
