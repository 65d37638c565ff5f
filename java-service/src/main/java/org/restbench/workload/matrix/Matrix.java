package org.restbench.workload.matrix;

/**
 * A matrix of 64-bit integers.
 *
 * @param rows at least 1
 * @param columns at least 1
 * @param values rows × columns, row-major, from index 0; the array may be longer. Shared, not copied: nobody writes to
 *     it once the matrix is handed on.
 */
record Matrix(int rows, int columns, long[] values) {
    int size() {
        return rows * columns;
    }
}
