package org.restbench.codec;

import java.nio.charset.StandardCharsets;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixProduct;
import org.restbench.workload.matrix.MatrixRequest;
import tools.jackson.core.io.NumberOutput;
import tools.jackson.core.util.ByteArrayBuilder;

/**
 * The matrix workload's JSON.
 *
 * @param mostElements of a product; a larger product is refused before it is computed
 */
public record MatrixJson(int mostElements) implements Codec<MatrixRequest, MatrixProduct> {
    private static final int HEAD_BYTES = 200;

    /** Room that is made beforehand for each element: about what one of the study's products takes with its comma. */
    private static final int USUAL_BYTES = 8;

    /** Size of the pieces that are written to the growing buffer. */
    private static final int PIECE_BYTES = 2048;

    /** Most bytes of a number with the characters before and after it. */
    private static final int NUMBER_BYTES = 32;

    private static final class Members {
        private RequestId id;
        private final MatrixReader one;
        private final MatrixReader two;

        Members(JsonReader json, MemoryBudget.Hold memory, boolean keepsElements) {
            one = new MatrixReader("matrixOne", json, memory, keepsElements);
            two = new MatrixReader("matrixTwo", json, memory, keepsElements);
            for (String name = json.nextName(); name != null; name = json.nextName()) {
                switch (name) {
                    case "requestId" -> id = RequestIds.read(json);
                    case "matrixOne" -> one.read();
                    case "matrixTwo" -> two.read();
                    default -> json.skipNext();
                }
            }
        }
    }

    @Override
    public MatrixRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        long before = memory.bytes();
        try {
            Members read = Json.read(body, memory, json -> new Members(json, memory, true));
            return MatrixBuilder.request(read.id, read.one.matrix(), read.two.matrix(), query, mostElements);
        } catch (MemoryRefused refused) {
            if (refused.never()) { // 010, which comes after all other faults
                memory.shrink(memory.bytes() - before);
                Members read = Json.read(body, memory, json -> new Members(json, memory, false));
                MatrixBuilder.requireSound(read.id, read.one.matrix(), read.two.matrix(), query, mostElements);
            }
            throw refused;
        }
    }

    /** {@code {"requestId":"…","rows":[[…],…]}} without white space. */
    @Override
    public byte[] encode(MatrixProduct product) {
        Matrix rows = product.product();
        String head = "{\"requestId\":" + RequestIds.asString(product.id()) + ",\"rows\":";
        ByteArrayBuilder text = new ByteArrayBuilder(HEAD_BYTES + USUAL_BYTES * rows.size());
        text.write(head.getBytes(StandardCharsets.UTF_8));
        byte[] piece = new byte[PIECE_BYTES];
        int length = 0;
        for (int row = 0; row < rows.rows(); row++) {
            piece[length++] = (byte) (row == 0 ? '[' : ',');
            byte before = '[';
            for (int i = row * rows.columns(); i < (row + 1) * rows.columns(); i++) {
                piece[length++] = before;
                length = NumberOutput.outputLong(rows.values()[i], piece, length);
                before = ',';
                if (length > PIECE_BYTES - NUMBER_BYTES) {
                    text.write(piece, 0, length);
                    length = 0;
                }
            }
            piece[length++] = ']';
        }
        piece[length++] = ']';
        piece[length++] = '}';
        text.write(piece, 0, length);
        return text.toByteArray();
    }
}
