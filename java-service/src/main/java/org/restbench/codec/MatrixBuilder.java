package org.restbench.codec;

import org.restbench.memory.MemoryBudget;
import org.restbench.workload.matrix.Matrix;

/**
 * A matrix that grows row by row, whatever form its rows come in. Of what is wrong with it, it keeps the message that
 * comes first in the contract's order, for each code.
 */
final class MatrixBuilder {
    private final String name;
    private Elements elements;
    private String rowsFault;
    private String elementFault;
    private int rows;
    private int columns;
    private int firstOtherRow = -1;
    private int firstOtherWidth;

    /** @param name of the matrix, for messages */
    MatrixBuilder(String name) {
        this.name = name;
        this.rowsFault = name + ".rows: must be an array of at least one row";
    }

    /** Its rows come now. */
    Elements begin(MemoryBudget.Hold memory) {
        elements = new Elements(memory);
        rowsFault = null;
        return elements;
    }

    /** @param width of the row that has ended: the number of its values, right or wrong */
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

    /** No more rows come. */
    void end() {
        if (rows == 0) {
            rowsFault = name + ".rows: must be an array of at least one row";
        }
        elements.trim();
    }

    int rows() {
        return rows;
    }

    /** Values of the first row. */
    int columns() {
        return columns;
    }

    /** @param rule that the row which is being read breaks, begun with what follows the row's place */
    void noteShape(String rule) {
        if (rowsFault == null) {
            rowsFault = name + ".rows[" + rows + "]" + rule;
        }
        elements.keepNone();
    }

    /** @param index of a value in the row which is being read */
    void noteElement(int index) {
        if (elementFault == null) {
            elementFault = name + ".rows[" + rows + "].value[" + index + "]: must be an integer that fits 64 bits";
        }
        elements.keepNone();
    }

    /** 003; null where there are rows, each with values. */
    String rowsFault() {
        return rowsFault;
    }

    /** 005; null where every element is a 64-bit integer. */
    String elementFault() {
        return elementFault;
    }

    /**
     * 004; null where every row has as many values as columnCount says. To be asked after the others.
     *
     * @param shown the column count as it was sent
     */
    String widthFault(long columnCount, String shown) {
        if (columnCount != columns) {
            return widthFault(0, columns, shown);
        }
        return firstOtherRow < 0 ? null : widthFault(firstOtherRow, firstOtherWidth, shown);
    }

    private String widthFault(int row, int width, String shown) {
        return name + ".rows[" + row + "]: the number of values is " + width + ", columnCount is " + shown;
    }

    /** The matrix in which nothing is wrong. */
    Matrix matrix() {
        return new Matrix(rows, columns, elements.values());
    }
}
