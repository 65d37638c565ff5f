package org.restbench.client.calls;

import java.util.Arrays;
import java.util.List;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;
import org.restbench.client.codec.Matrix;
import org.restbench.client.codec.MatrixProduct;
import org.restbench.client.codec.NpbResult;
import org.restbench.soap.matrix.MatrixPort;
import org.restbench.soap.matrix.MatrixService;
import org.restbench.soap.matrix.Multiply;
import org.restbench.soap.matrix.Operand;
import org.restbench.soap.npb.KernelName;
import org.restbench.soap.npb.NpbPort;
import org.restbench.soap.npb.NpbService;
import org.restbench.soap.npb.Result;
import org.restbench.soap.npb.Run;

/** The ports that wsdl2java made, with the library's inputs and outputs. */
final class CxfPorts {
    private static final int FAULT = 500;

    private CxfPorts() {}

    static CxfProxy<MatrixProduct.Input, MatrixProduct> matrix(String url, long perCallMillis) {
        MatrixPort port = new MatrixService().getMatrixPort();
        return new CxfProxy<>(port, url, perCallMillis, input -> {
            Multiply multiply = new Multiply();
            multiply.setRequestId(input.requestId());
            multiply.setMatrixOne(operand(input.one()));
            multiply.setMatrixTwo(operand(input.two()));
            try {
                var product = port.multiply(multiply).getProduct();
                return new MatrixProduct(product.getRequestId(), Matrix.parse(product.getRow(), Loop.IN_ORDER));
            } catch (org.restbench.soap.matrix.RequestFault fault) {
                var error = fault.getFaultInfo();
                throw new ServiceRefused(FAULT, error.getErrorCode(), error.getErrorMessage(), error.getRequestId());
            }
        });
    }

    private static Operand operand(Matrix matrix) {
        Operand operand = new Operand();
        operand.setColumnCount(matrix.columns());
        operand.getRow().addAll(Arrays.asList(matrix.texts(Loop.IN_ORDER)));
        return operand;
    }

    static CxfProxy<NpbResult.Input, NpbResult> npb(String url, long perCallMillis) {
        NpbPort port = new NpbService().getNpbPort();
        return new CxfProxy<>(port, url, perCallMillis, input -> {
            Run run = new Run();
            run.setRequestId(input.requestId());
            run.setKernel(KernelName.fromValue(input.kernel()));
            run.setClazz(input.npbClass());
            run.setGenerate(input.generate());
            try {
                return result(port.run(run).getResult());
            } catch (org.restbench.soap.npb.RequestFault fault) {
                var error = fault.getFaultInfo();
                throw new ServiceRefused(FAULT, error.getErrorCode(), error.getErrorMessage(), error.getRequestId());
            }
        });
    }

    private static NpbResult result(Result result) {
        return new NpbResult(
                result.getRequestId(),
                result.getKernel().value(),
                result.getClazz(),
                result.isVerified(),
                List.copyOf(result.getValue()),
                List.copyOf(result.getReference()),
                result.getIterations(),
                result.getKernelSeconds(),
                result.getTotalSeconds(),
                result.getMops());
    }
}
