package org.restbench.codec;

import java.util.ArrayList;
import java.util.List;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Kernel;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixProduct;
import org.restbench.workload.matrix.MatrixRequest;

/**
 * A matrix as text: what a form of the contract other than JSON has when it has read its own syntax. Rules, order and
 * messages are those of {@link MatrixJson}.
 *
 * @param columnCount any number
 * @param rows each a list of integers
 */
public record MatrixRows(long columnCount, List<String> rows) {
    /** Of a row of the answer: its string, and its place in a list. */
    private static final int BYTES_OF_A_ROW = 64;

    private record Operand(String name, MatrixRows text, MatrixBuilder matrix) {
        static Operand read(String name, MatrixRows text, MemoryBudget.Hold memory) {
            MatrixBuilder matrix = new MatrixBuilder(name);
            Elements elements = matrix.begin(memory);
            for (String row : text.rows) {
                int before = elements.size();
                if (row.isEmpty()) {
                    matrix.noteShape(".value: must be a non-empty string or array of integers");
                } else if (!elements.addText(row)) {
                    matrix.noteElement(elements.size() - before);
                }
                matrix.endRow(elements.size() - before);
                if (matrix.rows() == 1) {
                    elements.reserve(Math.min((long) text.rows.size() * matrix.columns(), text.mostElements()));
                }
            }
            matrix.end();
            return new Operand(name, text, matrix);
        }

        String shapeFault() {
            return text.columnCount < 1 ? MatrixReader.columnCountFault(name) : matrix.rowsFault();
        }

        String widthFault() {
            return matrix.widthFault(text.columnCount, Long.toString(text.columnCount));
        }
    }

    private long mostElements() {
        return rows.stream().mapToLong(row -> row.length() / 2 + 1).sum();
    }

    /**
     * The request of two matrices.
     *
     * @param id null where it is none
     * @param memory what the numbers take is taken from here
     * @param mostElements of the product
     * @throws InvalidRequest 003, 005, 004, 001 or 007, in the contract's order
     */
    public static MatrixRequest request(
            RequestId id, MatrixRows one, MatrixRows two, Query query, MemoryBudget.Hold memory, int mostElements) {
        Kernel kernel = MatrixJson.kernel(query);
        InvalidRequest.refuse("003", kernel == null ? MatrixJson.KERNEL_RULE : null, id);
        InvalidRequest.refuse("003", query.delayFault(), id);
        InvalidRequest.refuse("003", id == null ? RequestIds.RULE : null, null);
        Operand left = Operand.read("matrixOne", one, memory);
        Operand right = Operand.read("matrixTwo", two, memory);
        InvalidRequest.refuse("003", left.shapeFault(), id);
        InvalidRequest.refuse("003", right.shapeFault(), id);
        InvalidRequest.refuse("005", left.matrix.elementFault(), id);
        InvalidRequest.refuse("005", right.matrix.elementFault(), id);
        InvalidRequest.refuse("004", left.widthFault(), id);
        InvalidRequest.refuse("004", right.widthFault(), id);
        MatrixRequest request = new MatrixRequest(id, kernel, left.matrix.matrix(), right.matrix.matrix());
        request.requireMultipliable(mostElements);
        memory.grow((long) BYTES_OF_A_ROW * request.one().rows());
        return request;
    }

    /** The rows of a product. */
    public static List<String> of(MatrixProduct product) {
        Matrix matrix = product.product();
        List<String> rows = new ArrayList<>(matrix.rows());
        StringBuilder row = new StringBuilder();
        for (int from = 0; from < matrix.size(); from += matrix.columns()) {
            row.setLength(0);
            for (int i = from; i < from + matrix.columns(); i++) {
                row.append(i == from ? "" : ",").append(matrix.values()[i]);
            }
            rows.add(row.toString());
        }
        return rows;
    }
}
