package org.restbench.client.codec;

import java.util.Arrays;
import java.util.List;
import org.restbench.client.Loop;

/** A matrix of 64-bit integers; {@code values} is row-major. */
public record Matrix(int columns, long[] values) {
    /** @throws IllegalArgumentException where the values are not one or more complete rows */
    public Matrix {
        if (columns < 1 || values.length == 0 || values.length % columns != 0) {
            throw new IllegalArgumentException(values.length + " values are no rows of " + columns);
        }
    }

    /**
     * Parses rows such as {@code 58,64}.
     *
     * @throws IllegalArgumentException where an element is no integer, or rows differ in length
     * @throws ArithmeticException where there are more than 2³¹ − 1 elements
     */
    public static Matrix parse(List<String> rows, Loop loop) {
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("no rows");
        }
        int columns = 1 + (int) rows.get(0).chars().filter(unit -> unit == ',').count();
        if (rows.stream().anyMatch(row -> row.length() < 2L * columns - 1)) { // else few bytes could claim much memory
            throw new IllegalArgumentException("a row has not " + columns + " elements");
        }
        long[] values = new long[Math.multiplyExact(rows.size(), columns)];
        loop.forEach(rows.size(), row -> parse(rows.get(row), values, row * columns, columns));
        return new Matrix(columns, values);
    }

    private static void parse(String row, long[] values, int at, int columns) {
        int from = 0;
        for (int column = 0; column < columns; column++) {
            int comma = row.indexOf(',', from);
            int to = comma < 0 ? row.length() : comma;
            if (column == columns - 1 != comma < 0) {
                throw new IllegalArgumentException("a row has not " + columns + " elements");
            }
            values[at + column] = Long.parseLong(row, from, to, 10);
            from = to + 1;
        }
    }

    public int rows() {
        return values.length / columns;
    }

    /** The text of each row, such as {@code 58,64}. */
    public String[] texts(Loop loop) {
        String[] texts = new String[rows()];
        loop.forEach(texts.length, row -> {
            StringBuilder text = new StringBuilder(columns * 4);
            for (int i = row * columns; i < (row + 1) * columns; i++) {
                text.append(i == row * columns ? "" : ",").append(values[i]);
            }
            texts[row] = text.toString();
        });
        return texts;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Matrix matrix && matrix.columns == columns && Arrays.equals(matrix.values, values);
    }

    @Override
    public int hashCode() {
        return 31 * columns + Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return rows() + " x " + columns;
    }
}
