package org.restbench.codec;

import java.util.function.Function;
import org.restbench.memory.MemoryBudget;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.StreamReadException;

/** Walks one JSON text, member by member. Methods throw Jackson's exceptions where the text is malformed. */
final class JsonReader implements AutoCloseable {
    /** Bytes of a name until its object ends, measured: Jackson keeps it to find repeated names. */
    private static final int BYTES_OF_A_NAME = 256;

    private static final int NAMES_AT_ONCE = 64;

    private final JsonParser parser;
    final byte[] body;
    private final MemoryBudget.Hold memory;
    private int ignoredNames;

    JsonReader(JsonParser parser, byte[] body, MemoryBudget.Hold memory) {
        this.parser = parser;
        this.body = body;
        this.memory = memory;
    }

    /** Reads the whole text: the result for an object, null for any other value. */
    <T> T readAll(Function<JsonReader, T> reading) {
        JsonToken first = parser.nextToken();
        if (first == null) {
            throw new StreamReadException(parser, "no value");
        }
        T result = null;
        if (first == JsonToken.START_OBJECT) {
            result = reading.apply(this);
        } else {
            skip();
        }
        if (parser.nextToken() != null) {
            throw new StreamReadException(parser, "text after the value");
        }
        return result;
    }

    /** The name of the object's next member; null after the last one, when the object has been left. */
    String nextName() {
        return parser.nextName();
    }

    JsonToken next() {
        return parser.nextToken();
    }

    boolean isAt(JsonToken token) {
        return parser.currentToken() == token;
    }

    /** The byte offset at which the current token begins. */
    int offset() {
        return (int) parser.currentTokenLocation().getByteOffset();
    }

    /** Whether the current token is an integer, without fraction and exponent, of 64 bits. */
    boolean isLong() {
        return parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
    }

    long longValue() {
        return parser.getLongValue();
    }

    String text() {
        return parser.getString();
    }

    /** The most bytes of a string of so many code points: two escapes of six bytes for each, and the quotes. */
    static int mostBytes(int characters) {
        return 12 * characters + 2;
    }

    /** The current string; null for another value, which is skipped, or a string that is surely too long. */
    String shortText(int characters) {
        if (!isAt(JsonToken.VALUE_STRING)) {
            skip();
            return null;
        }
        int offset = offset();
        int most = mostBytes(characters);
        return endOfString(offset, most) - offset > most ? null : text();
    }

    /** As {@link #shortText}, for the value of the member whose name was read last. */
    String nextShortText(int characters) {
        next();
        return shortText(characters);
    }

    /**
     * The offset after the closing quote of the string that begins at an offset.
     *
     * @param most bytes that are looked at; where the string has not ended by then, the result is beyond them or the
     *     text's end
     */
    int endOfString(int offset, int most) {
        int next = offset + 1;
        int last = (int) Math.min(body.length, (long) offset + most);
        while (next < last && body[next] != '"') {
            next += body[next] == '\\' ? 2 : 1;
        }
        return Math.min(body.length, next + 1);
    }

    /** Skips the value of the member whose name was read last. */
    void skipNext() {
        parser.nextToken();
        skip();
        ignore();
    }

    /** Skips the value whose first token is the current one. */
    void skip() {
        int depth = 0;
        for (JsonToken token = parser.currentToken(); ; token = parser.nextToken()) {
            if (token.isStructStart()) {
                depth++;
            } else if (token.isStructEnd()) {
                depth--;
            } else if (token == JsonToken.PROPERTY_NAME) {
                ignore();
            }
            if (depth == 0) {
                return;
            }
        }
    }

    /** Reserves memory for a skipped name. Members that are read have few names, which are not worth counting. */
    private void ignore() {
        if (++ignoredNames % NAMES_AT_ONCE == 0) {
            memory.grow((long) NAMES_AT_ONCE * BYTES_OF_A_NAME);
        }
    }

    @Override
    public void close() {
        parser.close();
    }
}
