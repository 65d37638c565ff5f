package org.restbench.soap;

import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.restbench.codec.Codec;
import org.restbench.codec.MatrixJson;
import org.restbench.codec.MatrixRows;
import org.restbench.codec.NpbJson;
import org.restbench.codec.Query;
import org.restbench.codec.RequestIds;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.Strategies.Technique;
import org.restbench.memory.MemoryBudget;
import org.restbench.soap.matrix.MatrixPort;
import org.restbench.soap.matrix.Multiply;
import org.restbench.soap.matrix.MultiplyResponse;
import org.restbench.soap.matrix.Operand;
import org.restbench.soap.matrix.Product;
import org.restbench.soap.npb.KernelName;
import org.restbench.soap.npb.NpbPort;
import org.restbench.soap.npb.Result;
import org.restbench.soap.npb.Run;
import org.restbench.soap.npb.RunResponse;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.matrix.MatrixWorkload.MatrixProduct;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;
import org.restbench.workload.npb.NpbWorkload.NpbRequest;
import org.restbench.workload.npb.NpbWorkload.NpbResult;
import org.restbench.workload.npb.Problem.Outcome;

/** A request whose XML has been read: a codec between JAXB's objects and a workload, run as any other. */
abstract class Operation<I, O> implements Codec<I, O> {
    private static final byte[] NONE = {};

    private final Workload<I, O> workload;
    private Object answer;

    Operation(Workload<I, O> workload) {
        this.workload = workload;
    }

    CodedWorkload<I, O> workload() {
        return new CodedWorkload<>(workload, this);
    }

    abstract Object message(O output);

    /** The request's id; null where its text is no valid id. */
    abstract RequestId id();

    /** The object that JAXB writes; null until a strategy has encoded the output. */
    Object answer() {
        return answer;
    }

    /** Returns no bytes: CXF writes the answer when the strategy is done. */
    @Override
    public byte[] encode(O output) {
        answer = message(output);
        return NONE;
    }

    @Override
    public RequestId identify(byte[] body) {
        return id();
    }

    /**
     * A SOAP service of the contract, which has one operation.
     *
     * @param name of the service's files in {@code contract/soap}, and the last part of its namespace
     * @param serviceName the service's name in the WSDL
     * @param port the interface of the port; the WSDL's port type and port have the same name
     * @param isTakenBy whether a technique offers the service
     * @param operation makes the operation of a request from its single part, as read by JAXB
     */
    record Service(
            String name,
            String serviceName,
            Class<?> port,
            Predicate<Technique> isTakenBy,
            Function<Object, Operation<?, ?>> operation) {
        String namespace() {
            return "urn:restbench:" + name;
        }
    }

    /** Runs the kernel of the NAS Parallel Benchmarks that the message names. */
    static final class KernelRun extends Operation<NpbRequest, NpbResult> {
        private final NpbJson json;
        private final Run message;

        private KernelRun(CodedWorkload<NpbRequest, NpbResult> kernel, Run message) {
            super(kernel.workload());
            this.json = (NpbJson) kernel.codec();
            this.message = message;
        }

        static Service service(Workloads workloads) {
            return new Service(
                    "npb",
                    "NpbService",
                    NpbPort.class,
                    it -> Stream.of(KernelName.values())
                            .allMatch(each -> it.takes(named(each, workloads).workload())),
                    message -> new KernelRun(named(((Run) message).getKernel(), workloads), (Run) message));
        }

        private static CodedWorkload<NpbRequest, NpbResult> named(KernelName kernel, Workloads workloads) {
            return SoapProtocol.named("npb-" + kernel.value().toLowerCase(Locale.ROOT), workloads);
        }

        @Override
        RequestId id() {
            return RequestIds.of(message.getRequestId());
        }

        @Override
        public NpbRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
            boolean generate = message.isGenerate() == null || message.isGenerate();
            return json.request(id(), message.getClazz(), generate, query);
        }

        @Override
        Object message(NpbResult output) {
            Outcome outcome = output.outcome();
            Result result = new Result();
            result.setRequestId(output.id().text());
            result.setKernel(KernelName.fromValue(output.kernel()));
            result.setClazz(output.npbClass());
            result.setVerified(outcome.verified());
            result.getValue().addAll(outcome.value());
            result.getReference().addAll(outcome.reference());
            result.setIterations(outcome.iterations());
            result.setKernelSeconds(outcome.kernelNanos() / 1e9);
            result.setTotalSeconds(output.totalNanos() / 1e9);
            result.setMops(outcome.mops());
            RunResponse response = new RunResponse();
            response.setResult(result);
            return response;
        }
    }

    /** The operation that multiplies two matrices. */
    static final class Multiplication extends Operation<MatrixRequest, MatrixProduct> {
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
}
