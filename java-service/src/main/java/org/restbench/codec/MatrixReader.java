package org.restbench.codec;

import java.nio.charset.StandardCharsets;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.matrix.Matrix;
import tools.jackson.core.JsonToken;

/** Reads one matrix of a request into a flat array, in one pass and whatever comes. */
final class MatrixReader {
    /** Of an element of the study and its comma, about: what is made room for beforehand, at most. */
    private static final int BYTES_OF_AN_ELEMENT = 4;

    private static final int SHOWN_DIGITS = 24;

    private final String name;
    private final JsonReader json;
    private final MemoryBudget.Hold memory;
    private final MatrixBuilder matrix;

    private String shapeFault;
    private String columnCountFault;

    private int columnCountAt;
    private long columnCount;
    private Elements elements;

    /** @param name of the member, for messages */
    MatrixReader(String name, JsonReader json, MemoryBudget.Hold memory) {
        this.name = name;
        this.json = json;
        this.memory = memory;
        this.matrix = new MatrixBuilder(name);
        this.shapeFault = name + ": must be an object with columnCount and rows";
        this.columnCountFault = columnCountFault(name);
    }

    static String columnCountFault(String name) {
        return name + ".columnCount: must be an integer of at least 1";
    }

    /** Reads the value of the member it is at. */
    void read() {
        if (json.next() != JsonToken.START_OBJECT) {
            json.skip();
            return;
        }
        shapeFault = null;
        for (String member = json.nextName(); member != null; member = json.nextName()) {
            switch (member) {
                case "columnCount" -> readColumnCount();
                case "rows" -> readRows();
                default -> json.skipNext();
            }
        }
    }

    /** An integer of at least 1, however large: JSON has no leading zeros. */
    private void readColumnCount() {
        JsonToken token = json.next();
        int offset = json.offset();
        byte first = json.body()[offset];
        if (token == JsonToken.VALUE_NUMBER_INT && first >= '1' && first <= '9') {
            columnCountFault = null;
            columnCountAt = offset;
            columnCount = json.isLong() ? json.longValue() : Long.MAX_VALUE;
        } else {
            json.skip();
        }
    }

    private void readRows() {
        if (json.next() != JsonToken.START_ARRAY) {
            json.skip();
            return;
        }
        elements = matrix.begin(memory);
        while (json.next() != JsonToken.END_ARRAY) {
            int from = matrix.rows() == 0 ? json.offset() : 0; // only of the first: to ask makes an object
            int before = elements.size();
            readRow();
            matrix.endRow(elements.size() - before);
            if (matrix.rows() == 1) {
                reserve(from);
            }
        }
        matrix.end();
    }

    /** As much as is needed were each row as the first, but no more than what elements of some digits would take. */
    private void reserve(int from) {
        int firstRowBytes = json.offset() + 1 - from;
        long bytesLeft = json.body().length - json.offset();
        long alike = (bytesLeft / firstRowBytes + 1) * matrix.columns();
        elements.reserve(elements.size() + Math.min(alike, bytesLeft / BYTES_OF_AN_ELEMENT));
    }

    private void readRow() {
        if (!json.isAt(JsonToken.START_OBJECT)) {
            matrix.noteShape(": must be an object with value");
            json.skip();
            return;
        }
        boolean filled = false;
        for (String member = json.nextName(); member != null; member = json.nextName()) {
            if (member.equals("value")) {
                filled = readValue();
            } else {
                json.skipNext();
            }
        }
        if (!filled) {
            matrix.noteShape(".value: must be a non-empty string or array of integers");
        }
    }

    /** Whether it has elements, right or wrong. */
    private boolean readValue() {
        int before = elements.size();
        switch (json.next()) {
            case VALUE_STRING:
                int text = json.offset() + 1;
                if (json.body()[text] == '"') {
                    return false;
                }
                if (!elements.addString(json, text)) {
                    matrix.noteElement(elements.size() - before);
                }
                return true;
            case START_ARRAY:
                int index = 0;
                for (; json.next() != JsonToken.END_ARRAY; index++) {
                    if (json.isLong()) {
                        elements.add(json.longValue());
                    } else {
                        matrix.noteElement(index);
                        json.skip();
                    }
                }
                return index > 0;
            default:
                json.skip();
                return false;
        }
    }

    /** 003; null where members are there, not empty and of the right type. */
    String shapeFault() {
        return shapeFault != null ? shapeFault : columnCountFault != null ? columnCountFault : matrix.rowsFault();
    }

    /** 005; null where every element is a 64-bit integer. */
    String elementFault() {
        return matrix.elementFault();
    }

    /** 004; null where every row has as many values as columnCount says. To be asked after the others. */
    String widthFault() {
        return matrix.widthFault(columnCount, shownColumnCount());
    }

    /** As it was sent, but no more of it than fits a message. */
    private String shownColumnCount() {
        byte[] body = json.body();
        int to = columnCountAt;
        while (to < body.length && Character.isDigit(body[to])) {
            to++;
        }
        int shown = Math.min(SHOWN_DIGITS, to - columnCountAt);
        String digits = new String(body, columnCountAt, shown, StandardCharsets.US_ASCII);
        return shown < to - columnCountAt ? digits + "..." : digits;
    }

    /** The matrix in which nothing is wrong. */
    Matrix matrix() {
        return matrix.matrix();
    }
}
