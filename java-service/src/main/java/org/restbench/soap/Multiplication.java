package org.restbench.soap;

import org.restbench.codec.MatrixJson;
import org.restbench.codec.MatrixRows;
import org.restbench.codec.Query;
import org.restbench.codec.RequestIds;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.memory.MemoryBudget;
import org.restbench.soap.matrix.MatrixPort;
import org.restbench.soap.matrix.Multiply;
import org.restbench.soap.matrix.MultiplyResponse;
import org.restbench.soap.matrix.Operand;
import org.restbench.soap.matrix.Product;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.MatrixWorkload.MatrixProduct;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/** The operation that multiplies two matrices. */
final class Multiplication extends Operation<MatrixRequest, MatrixProduct> {
    private final MatrixJson json;
    private final Multiply message;

    private Multiplication(CodedWorkload<MatrixRequest, MatrixProduct> matrix, Multiply message) {
        super(matrix.workload());
        this.json = (MatrixJson) matrix.codec();
        this.message = message;
    }

    static Service service(CodedWorkload<MatrixRequest, MatrixProduct> matrix) {
        return new Service(
                "matrix",
                "MatrixService",
                MatrixPort.class,
                technique -> technique.takes(matrix.workload()),
                message -> new Multiplication(matrix, (Multiply) message));
    }

    @Override
    RequestId id() {
        return RequestIds.of(message.getRequestId());
    }

    @Override
    public MatrixRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        MatrixRows one = rows(message.getMatrixOne());
        MatrixRows two = rows(message.getMatrixTwo());
        return MatrixRows.request(id(), one, two, query, memory, json.mostElements());
    }

    private static MatrixRows rows(Operand operand) {
        return new MatrixRows(operand.getColumnCount(), operand.getRow());
    }

    @Override
    Object message(MatrixProduct output) {
        Product product = new Product();
        product.setRequestId(output.id().text());
        product.getRow().addAll(MatrixRows.of(output));
        MultiplyResponse response = new MultiplyResponse();
        response.setProduct(product);
        return response;
    }
}
