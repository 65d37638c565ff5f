package org.restbench.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.restbench.codec.MatrixBuilder.Operands;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixWorkload.MatrixProduct;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;
import tools.jackson.core.io.NumberOutput;

/**
 * The matrix workload's JSON.
 *
 * @param mostElements of a product; a larger product is refused before it is computed
 */
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
                case "matrixOne" -> new MatrixReader(json, one).read();
                case "matrixTwo" -> new MatrixReader(json, two).read();
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
}
