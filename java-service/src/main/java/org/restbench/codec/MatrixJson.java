package org.restbench.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.restbench.codec.MatrixBuilder.Operands;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixWorkload.MatrixProduct;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;
import tools.jackson.core.JsonToken;
import tools.jackson.core.io.NumberOutput;

/** The JSON of the workload matrix, which refuses a product of more elements before it is computed. */
public record MatrixJson(int mostElements) implements Codec<MatrixRequest, MatrixProduct> {
    /** The closing brackets of the list of rows and of the object. */
    private static final int BRACKETS = 2;

    /** The longest array that a JVM allocates. A text fits it where the bound of its length does not. */
    private static final long LARGEST_ARRAY = Integer.MAX_VALUE - 8;

    @Override
    public MatrixRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        return MatrixBuilder.request(
                query, memory, mostElements, keeps -> Json.read(body, memory, json -> read(json, memory, keeps)));
    }

    private static Operands read(JsonReader json, MemoryBudget.Hold memory, boolean keeps) {
        RequestId id = null;
        MatrixBuilder one = new MatrixBuilder("matrixOne", memory, keeps);
        MatrixBuilder two = new MatrixBuilder("matrixTwo", memory, keeps);
        for (String name = json.nextName(); name != null; name = json.nextName()) {
            switch (name) {
                case "requestId" -> id = RequestIds.read(json);
                case "matrixOne" -> new MatrixReader(json, one, one.elements).read();
                case "matrixTwo" -> new MatrixReader(json, two, two.elements).read();
                default -> json.skipNext();
            }
        }
        return new Operands(id, one, two);
    }

    /** {@code {"requestId":"…","rows":[[…],…]}} without white space. */
    @Override
    public byte[] encode(MatrixProduct product) {
        Matrix rows = product.product();
        String head = "{\"requestId\":" + RequestIds.asString(product.id()) + ",\"rows\":";
        byte[] begin = head.getBytes(StandardCharsets.UTF_8);
        byte[] text = Arrays.copyOf(begin, (int) Math.min(LARGEST_ARRAY, begin.length + mostBytes(rows)));
        int length = begin.length;
        for (int row = 0; row < rows.rows(); row++) {
            text[length++] = (byte) (row == 0 ? '[' : ',');
            byte before = '[';
            for (int i = row * rows.columns(); i < (row + 1) * rows.columns(); i++) {
                text[length++] = before;
                length = NumberOutput.outputLong(rows.values()[i], text, length);
                before = ',';
            }
            text[length++] = ']';
        }
        text[length++] = ']';
        text[length++] = '}';
        return Arrays.copyOf(text, length);
    }

    /** The most bytes of the rows and the brackets around them. */
    private static long mostBytes(Matrix rows) {
        return (long) rows.size() * (rows.characters() + 1) + 2L * rows.rows() + BRACKETS;
    }

    /** Reads one matrix of a request into a flat array in one pass, valid or not. */
    private record MatrixReader(JsonReader json, MatrixBuilder matrix, Elements elements) {
        /** Bytes of an element of the study with its comma and its part of the row. */
        private static final int BYTES_OF_AN_ELEMENT = 3;

        private static final int SHOWN_DIGITS = 24;

        /** Reads the value of the member whose name was read last. */
        void read() {
            if (json.next() != JsonToken.START_OBJECT) {
                json.skip();
                return;
            }
            matrix.open();
            for (String member = json.nextName(); member != null; member = json.nextName()) {
                switch (member) {
                    case "columnCount" -> readColumnCount();
                    case "rows" -> readRows();
                    default -> json.skipNext();
                }
            }
        }

        /** Accepts any integer of at least 1. As JSON has no leading zeros, the first digit decides. */
        private void readColumnCount() {
            JsonToken token = json.next();
            int offset = json.offset();
            byte first = json.body[offset];
            if (token == JsonToken.VALUE_NUMBER_INT && first >= '1' && first <= '9') {
                matrix.columnCount(json.isLong() ? json.longValue() : Long.MAX_VALUE, () -> digits(offset));
            } else {
                json.skip();
            }
        }

        private void readRows() {
            if (json.next() != JsonToken.START_ARRAY) {
                json.skip();
                return;
            }
            int first = 0;
            while (json.next() != JsonToken.END_ARRAY) {
                if (matrix.rows() == 0) {
                    first = json.offset(); // only for two rows, as offset() makes an object
                } else if (matrix.rows() == 1) {
                    reserve(first);
                }
                int before = elements.size();
                readRow();
                matrix.endRow(elements.size() - before);
            }
            elements.trim();
        }

        /** At the second row, makes room for all rows as if they were alike, as far as the body can hold them. */
        private void reserve(int first) {
            int firstRowBytes = json.offset() - first;
            long bytesLeft = json.body.length - json.offset();
            long alike = (bytesLeft / firstRowBytes + 1) * matrix.columns();
            elements.reserve(elements.size() + Math.min(alike, bytesLeft / BYTES_OF_AN_ELEMENT));
        }

        /** Makes room for a first row, by its commas: an array that grows is held together with its predecessor. */
        private void reserveList(int from, char end) {
            byte[] body = json.body;
            int commas = 0;
            int to = from;
            for (; to < body.length && body[to] != end; to++) {
                commas += body[to] == ',' ? 1 : 0;
            }
            elements.reserve(elements.size() + 1L + Math.min(commas, (to - from) / 2));
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

        /** Reads the value of a row. Returns whether it has elements, valid or not. */
        private boolean readValue() {
            int before = elements.size();
            switch (json.next()) {
                case VALUE_STRING:
                    int text = json.offset() + 1;
                    if (text < json.body.length && json.body[text] == '"') { // the body may end behind the first quote
                        return false;
                    }
                    if (matrix.rows() == 0) {
                        reserveList(text, '"');
                    }
                    if (!elements.addString(json, text)) {
                        matrix.noteElement(elements.size() - before);
                    }
                    return true;
                case START_ARRAY:
                    if (matrix.rows() == 0) {
                        reserveList(json.offset() + 1, ']');
                    }
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

        /** The digits of a number in the text, but no more than fit a message. */
        private String digits(int from) {
            byte[] body = json.body;
            int to = from;
            while (to < body.length && Character.isDigit(body[to])) {
                to++;
            }
            int shown = Math.min(SHOWN_DIGITS, to - from);
            String digits = new String(body, from, shown, StandardCharsets.US_ASCII);
            return shown < to - from ? digits + "..." : digits;
        }
    }
}
