package org.restbench.codec;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.restbench.codec.MatrixBuilder.Operands;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixWorkload.MatrixProduct;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/**
 * A matrix as text, as a format other than JSON yields it once its syntax is parsed. Rules, their order and messages
 * are those of {@link MatrixJson}.
 *
 * @param columnCount any number
 * @param rows each a list of integers
 */
public record MatrixRows(long columnCount, List<String> rows) {
    /** Memory of a row of the answer: its string, and its place in a list. */
    private static final int BYTES_OF_A_ROW = 64;

    private MatrixBuilder read(String name, MemoryBudget.Hold memory, boolean keeps) {
        MatrixBuilder matrix = new MatrixBuilder(name, memory, keeps);
        Elements elements = matrix.elements;
        matrix.open();
        if (columnCount >= 1) {
            matrix.columnCount(columnCount, () -> Long.toString(columnCount));
        }
        String first = rows.isEmpty() ? "" : rows.get(0);
        long columns = first.chars().filter(unit -> unit == ',').count() + 1;
        // all at once: an array that has to grow is held together with its predecessor
        elements.reserve(Math.min(rows.size() * columns, mostElements()));
        for (String row : rows) {
            int before = elements.size();
            if (row.isEmpty()) {
                matrix.noteShape(".value: must be a non-empty string or array of integers");
            } else if (!elements.addText(row)) {
                matrix.noteElement(elements.size() - before);
            }
            matrix.endRow(elements.size() - before);
        }
        elements.trim();
        return matrix;
    }

    /** An upper bound of the number of elements, as each has a digit and a comma after it. */
    private long mostElements() {
        return rows.stream().mapToLong(row -> row.length() / 2 + 1).sum();
    }

    /** As {@link MatrixBuilder#request}; the id is null where there is no valid one. */
    public static MatrixRequest request(
            RequestId id, MatrixRows one, MatrixRows two, Query query, MemoryBudget.Hold memory, int mostElements) {
        Function<Boolean, Operands> reading =
                keeps -> new Operands(id, one.read("matrixOne", memory, keeps), two.read("matrixTwo", memory, keeps));
        MatrixRequest request = MatrixBuilder.request(query, memory, mostElements, reading);
        memory.grow((long) BYTES_OF_A_ROW * request.one().rows());
        return request;
    }

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
