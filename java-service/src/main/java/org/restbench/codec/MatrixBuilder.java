package org.restbench.codec;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixWorkload.Kernel;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/** Builds a matrix from any format. Keeps the first message in the contract's order for each code. */
final class MatrixBuilder {
    private static final String KERNEL_RULE = "kernel: must be given at most once, as loops or native";

    private final String name;
    final Elements elements;
    private String shapeFault;
    private String columnCountFault;
    private String rowFault;
    private String elementFault;
    private long columnCount;
    private Supplier<String> shownColumnCount;
    private int rows;
    private int columns;
    private int firstOtherRow = -1;
    private int firstOtherWidth;

    /**
     * @param name of the matrix, for messages
     * @param memory of the request, from which the elements take their memory
     * @param keeps whether the elements are kept; otherwise they are only checked, which takes no memory
     */
    MatrixBuilder(String name, MemoryBudget.Hold memory, boolean keeps) {
        this.name = name;
        this.elements = new Elements(memory);
        if (!keeps) {
            elements.keepNone();
        }
        this.shapeFault = name + ": must be an object with columnCount and rows";
        this.columnCountFault = name + ".columnCount: must be an integer of at least 1";
    }

    /** Notes that the request has this matrix, whatever its members are. */
    void open() {
        shapeFault = null;
    }

    /** @param shown the count, at least 1, as it was sent, for a message */
    void columnCount(long count, Supplier<String> shown) {
        columnCountFault = null;
        columnCount = count;
        shownColumnCount = shown;
    }

    /** @param width number of values in the row that has ended, valid or not */
    void endRow(int width) {
        if (rows == 0) {
            columns = width;
        } else if (width != columns && firstOtherRow < 0) {
            firstOtherRow = rows;
            firstOtherWidth = width;
            elements.keepNone();
        }
        rows++;
    }

    int rows() {
        return rows;
    }

    /** Number of values in the first row. */
    int columns() {
        return columns;
    }

    /** @param rule that the current row breaks: the part of the message after the row's index */
    void noteShape(String rule) {
        if (rowFault == null) {
            rowFault = name + ".rows[" + rows + "]" + rule;
        }
        elements.keepNone();
    }

    /** @param index of an invalid value in the current row */
    void noteElement(int index) {
        if (elementFault == null) {
            elementFault = name + ".rows[" + rows + "].value[" + index + "]: must be an integer that fits 64 bits";
        }
        elements.keepNone();
    }

    /** The message of 003; null where all members are there, not empty and of the right type. */
    private String shapeFault() {
        if (shapeFault != null || columnCountFault != null) {
            return shapeFault != null ? shapeFault : columnCountFault;
        }
        return rows == 0 ? name + ".rows: must be an array of at least one row" : rowFault;
    }

    /** The message of 004; null where all rows have the right width. To be called after the other checks. */
    private String widthFault() {
        if (columnCount != columns) {
            return widthFault(0, columns);
        }
        return firstOtherRow < 0 ? null : widthFault(firstOtherRow, firstOtherWidth);
    }

    private String widthFault(int row, int width) {
        return name + ".rows[" + row + "]: the number of values is " + width + ", columnCount is "
                + shownColumnCount.get();
    }

    private Matrix matrix() {
        return new Matrix(rows, columns, elements.values());
    }

    /** The two matrices of a request as they were read, valid or not; no id where there is no valid one. */
    record Operands(RequestId id, MatrixBuilder one, MatrixBuilder two) {
        private Kernel requireSound(Query query, int mostElements) {
            Kernel kernel = kernel(query);
            InvalidRequest.refuse("003", kernel == null ? KERNEL_RULE : null, id);
            InvalidRequest.refuse("003", query.delayFault(), id);
            InvalidRequest.refuse("003", id == null ? RequestIds.RULE : null, null);
            InvalidRequest.refuse("003", one.shapeFault(), id);
            InvalidRequest.refuse("003", two.shapeFault(), id);
            InvalidRequest.refuse("005", one.elementFault, id);
            InvalidRequest.refuse("005", two.elementFault, id);
            InvalidRequest.refuse("004", one.widthFault(), id);
            InvalidRequest.refuse("004", two.widthFault(), id);
            int unknownBits = 0; // the elements may not have been kept
            new MatrixRequest(id, kernel, one.matrix(), two.matrix(), unknownBits).requireMultipliable(mostElements);
            return kernel;
        }
    }

    /**
     * The request that two matrices make.
     *
     * @param memory of the request, from which reading takes the elements' memory
     * @param mostElements of the product
     * @param reading reads the matrices; its argument says whether the elements are kept
     * @throws InvalidRequest 003, 005, 004, 001 or 007, in the contract's order
     */
    static MatrixRequest request(
            Query query, MemoryBudget.Hold memory, int mostElements, Function<Boolean, Operands> reading) {
        long before = memory.bytes();
        try {
            Operands read = reading.apply(true);
            Kernel kernel = read.requireSound(query, mostElements);
            return new MatrixRequest(read.id, kernel, read.one.matrix(), read.two.matrix());
        } catch (MemoryRefused refused) {
            if (refused.never()) { // 010, which comes after all other faults
                memory.shrink(memory.bytes() - before);
                reading.apply(false).requireSound(query, mostElements);
            }
            throw refused;
        }
    }

    /** The kernel asked for; null where it is unknown. */
    private static Kernel kernel(Query query) {
        List<String> asked = query.values("kernel");
        if (asked.isEmpty() || asked.equals(List.of("loops"))) {
            return Kernel.LOOPS;
        }
        return asked.equals(List.of("native")) ? Kernel.NATIVE : null;
    }
}
