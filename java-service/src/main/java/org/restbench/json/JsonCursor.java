package org.restbench.json;

/**
 * A forward reader over one JSON text in UTF-8 bytes that builds nothing it is not asked for: whoever reads walks
 * objects and arrays and takes or skips each value. What is skipped is held to the same rules: RFC 8259, at most
 * {@link #MAX_DEPTH} nested objects and arrays, no name twice in an object. Every method throws {@link MalformedJson}
 * where they are broken.
 */
public final class JsonCursor {
    /** Levels of objects and arrays, the outermost included. */
    public static final int MAX_DEPTH = 32;

    private static final int LONGEST_ESCAPE = 6;

    private final byte[] text;
    private final JsonLexer lexer;
    private int offset;
    private int depth;
    /** Bit d: the object or array at depth d has had its first entry. */
    private long begun;

    private int nameFrom;
    private int nameTo;
    /** Per depth, the names of the open object. */
    private final Names[] names = new Names[MAX_DEPTH + 1];

    /** @param offset where the value begins that is read first */
    public JsonCursor(byte[] text, int offset) {
        this.text = text;
        this.lexer = new JsonLexer(text);
        this.offset = offset;
    }

    /** Where the next value begins, after white space. */
    public int offset() {
        offset = lexer.skipSpace(offset);
        return offset;
    }

    /** The first byte of the next token, which tells its kind; 0 at the end of the text. */
    public byte peek() {
        return lexer.at(offset());
    }

    /** Goes into the object that comes next; {@link #nextMember} then walks it. */
    public void enterObject() {
        enter('{');
        if (names[depth] == null) {
            names[depth] = new Names(text, lexer);
        }
    }

    /** Goes into the array that comes next; {@link #nextElement} then walks it. */
    public void enterArray() {
        enter('[');
    }

    private void enter(char opening) {
        if (peek() != opening) {
            throw JsonLexer.malformed("not a JSON " + (opening == '{' ? "object" : "array"), offset);
        }
        if (depth == MAX_DEPTH) {
            throw JsonLexer.malformed("nested deeper than " + MAX_DEPTH, offset);
        }
        offset++;
        depth++;
        begun &= ~(1L << depth);
    }

    /** Moves to the value of the next member; false, and out of the object, where there is none. */
    public boolean nextMember() {
        boolean first = (begun & 1L << depth) == 0;
        if (!nextEntry('}')) {
            return false;
        }
        if (peek() != '"') {
            throw JsonLexer.malformed("not a member's name", offset);
        }
        nameFrom = offset + 1;
        offset = lexer.string(offset);
        nameTo = offset - 1;
        if (!names[depth].add(nameFrom, first)) {
            throw JsonLexer.malformed("a duplicate member", nameFrom);
        }
        if (peek() != ':') {
            throw JsonLexer.malformed("no colon after a member's name", offset);
        }
        offset++;
        return true;
    }

    /** Moves to the next element; false, and out of the array, where there is none. */
    public boolean nextElement() {
        return nextEntry(']');
    }

    private boolean nextEntry(char closing) {
        long bit = 1L << depth;
        byte next = peek();
        if (next == closing) {
            offset++;
            depth--;
            return false;
        }
        if ((begun & bit) != 0) {
            if (next != ',') {
                throw JsonLexer.malformed(next == 0 ? "the text is cut off" : "no comma between entries", offset);
            }
            offset++;
        }
        begun |= bit;
        return true;
    }

    /** Whether the member that {@link #nextMember} moved to has this name, once unescaped. */
    public boolean nameIs(String name) {
        boolean plain = nameTo - nameFrom == name.length();
        for (int i = 0; plain && i < name.length(); i++) {
            plain = text[nameFrom + i] == name.charAt(i);
        }
        return plain
                || couldBeEscaped(name)
                        && JsonStrings.decode(text, nameFrom, nameTo).equals(name);
    }

    /** An escape is at most six times as long as what it stands for: a longer name need not be unescaped. */
    private boolean couldBeEscaped(String name) {
        return nameTo - nameFrom <= LONGEST_ESCAPE * name.length() && JsonStrings.isEscaped(text, nameFrom, nameTo);
    }

    /** As {@link #readString}, in UTF-8. */
    public byte[] readBytes() {
        int from = offset() + 1;
        offset = lexer.string(offset);
        return JsonStrings.unescape(text, from, offset - 1);
    }

    /** The text of the string that comes next; moves behind it. */
    public String readString() {
        int from = offset() + 1;
        offset = lexer.string(offset);
        return JsonStrings.decode(text, from, offset - 1);
    }

    /** Moves behind the string that comes next and says where its closing quote ended. */
    public int skipString() {
        offset = lexer.string(offset());
        return offset;
    }

    /** Moves behind the number that comes next and says where it ended. */
    public int skipNumber() {
        offset = lexer.number(offset());
        return offset;
    }

    /** Moves behind a token that the caller has read from the text itself. */
    public void moveTo(int newOffset) {
        offset = newOffset;
    }

    /** Moves behind the next value, whatever it is. */
    public void skipValue() {
        switch (peek()) {
            case '{' -> skipObject();
            case '[' -> skipArray();
            case '"' -> offset = lexer.string(offset);
            case 't' -> offset = lexer.literal(offset, "true");
            case 'f' -> offset = lexer.literal(offset, "false");
            case 'n' -> offset = lexer.literal(offset, "null");
            default -> offset = lexer.number(offset);
        }
    }

    private void skipObject() {
        enterObject();
        while (nextMember()) {
            skipValue();
        }
    }

    private void skipArray() {
        enterArray();
        while (nextElement()) {
            skipValue();
        }
    }

    /** Holds that nothing but white space is left. */
    public void finish() {
        if (offset() < text.length) {
            throw JsonLexer.malformed("text after the JSON value", offset);
        }
    }
}
