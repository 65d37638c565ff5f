package org.restbench.codec;

import org.restbench.json.JsonCursor;
import org.restbench.json.MalformedJson;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Kernel;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixRequest;

/**
 * Reads a request in one pass from its bytes into flat arrays, with no object a row and no string a number. It only
 * notices that something is wrong; what, and in which order of precedence, is {@link FaultFinder}'s to say.
 */
final class MatrixReader {
    private final byte[] body;
    private final MemoryBudget.Hold memory;
    private final JsonCursor cursor;

    private MatrixReader(byte[] body, MemoryBudget.Hold memory) {
        this.body = body;
        this.memory = memory;
        this.cursor = new JsonCursor(body, 0);
    }

    /**
     * @param kernel asked for
     * @param memory that the elements are taken from
     * @throws Irregular where the body is anything but a right request
     */
    static MatrixRequest read(byte[] body, Kernel kernel, MemoryBudget.Hold memory) {
        try {
            return new MatrixReader(body, memory).request(kernel);
        } catch (MalformedJson malformed) {
            throw Irregular.FOUND;
        }
    }

    private MatrixRequest request(Kernel kernel) {
        RequestId id = null;
        Matrix one = null;
        Matrix two = null;
        cursor.enterObject();
        while (cursor.nextMember()) {
            if (cursor.nameIs("requestId")) {
                id = RequestIds.read(cursor, body);
            } else if (cursor.nameIs("matrixOne")) {
                one = matrix();
            } else if (cursor.nameIs("matrixTwo")) {
                two = matrix();
            } else {
                cursor.skipValue();
            }
        }
        cursor.finish();
        require(id != null && one != null && two != null);
        return new MatrixRequest(id, kernel, one, two);
    }

    private Matrix matrix() {
        long columnCount = 0;
        Matrix matrix = null;
        cursor.enterObject();
        while (cursor.nextMember()) {
            if (cursor.nameIs("columnCount")) {
                columnCount = Integers.read(cursor, body);
            } else if (cursor.nameIs("rows")) {
                matrix = rows();
            } else {
                cursor.skipValue();
            }
        }
        require(matrix != null && columnCount == matrix.columns());
        return matrix;
    }

    /** All rows, of which the first decides the width: {@code columnCount} may come later. */
    private Matrix rows() {
        Elements elements = new Elements(memory);
        int rows = 0;
        int columns = 0;
        cursor.enterArray();
        while (cursor.nextElement()) {
            int start = elements.size();
            int from = cursor.offset();
            row(elements);
            int values = elements.size() - start;
            if (rows == 0) {
                columns = values;
                reserve(elements, columns, cursor.offset() - from);
            }
            require(values > 0 && values == columns);
            rows++;
        }
        require(rows > 0);
        elements.trim();
        return new Matrix(rows, columns, elements.values());
    }

    /** Room for all rows, were each as long as the first: at most four bytes for a byte of the body. */
    private void reserve(Elements elements, int columns, int rowBytes) {
        long rowsLeft = (body.length - cursor.offset()) / (rowBytes + 1) + 1;
        elements.reserve(columns * (rowsLeft + 1));
    }

    private void row(Elements elements) {
        boolean found = false;
        cursor.enterObject();
        while (cursor.nextMember()) {
            if (cursor.nameIs("value")) {
                if (cursor.peek() == '"') {
                    elements.addString(cursor, body);
                } else {
                    elements.addArray(cursor, body);
                }
                found = true;
            } else {
                cursor.skipValue();
            }
        }
        require(found);
    }

    private static void require(boolean regular) {
        if (!regular) {
            throw Irregular.FOUND;
        }
    }
}
