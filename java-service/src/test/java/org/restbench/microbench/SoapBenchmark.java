package org.restbench.microbench;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.restbench.codec.Query;
import org.restbench.core.Head;
import org.restbench.core.Protocol.Call;
import org.restbench.core.Reply;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.soap.SoapProtocol;
import org.restbench.workload.InvalidRequest;

/**
 * The same request as an envelope. What {@code soap} takes beyond {@code unmarshal} and the parts of a request in JSON
 * is marshalling.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Benchmark)
public class SoapBenchmark {
    private static final Pattern OPERAND = Pattern.compile("\"columnCount\":([0-9]+),\"rows\":\\[(.*?)\\]");
    private static final Pattern PRODUCT = Pattern.compile("<(?:\\w+:)?row>([^<]*)");
    private static final String ENVELOPE = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>"
            + "<multiply xmlns=\"urn:restbench:matrix\"><requestId>7</requestId>%s</multiply></s:Body></s:Envelope>";
    private static final Head HEAD =
            new Head("POST", "/soap/matrix/serial", null, "text/xml", -1, Head.ALWAYS_WANTED, header -> null);

    private SoapProtocol protocol;
    private ExecutionStrategy inOrder;
    private byte[] envelope;

    /** Refuses whatever has been read, so that nothing but reading is done. */
    private static final class Refusing implements ExecutionStrategy {
        private static final InvalidRequest NO = new InvalidRequest("001", "read, and no more", null);

        @Override
        public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
            return CompletableFuture.failedFuture(NO);
        }
    }

    @Setup
    public void read(ServiceParts parts, MatrixBody body) {
        protocol = parts.soap();
        inOrder = parts.strategy("serial");
        String json = new String(body.bytes(), StandardCharsets.UTF_8);
        List<String> operands =
                OPERAND.matcher(json).results().map(SoapBenchmark::operand).toList();
        envelope = ENVELOPE.formatted(
                        "<matrixOne>" + operands.get(0) + "</matrixOne><matrixTwo>" + operands.get(1) + "</matrixTwo>")
                .getBytes(StandardCharsets.UTF_8);
        String rows = String.join(
                "],[",
                PRODUCT.matcher(text(soap(parts)))
                        .results()
                        .map(row -> row.group(1))
                        .toList());
        body.requireRows("[[" + rows + "]]");
    }

    private static String operand(MatchResult found) {
        String rows = found.group(2).replaceAll("\\{\"value\":\"([^\"]*)\"\\},?", "<row>$1</row>");
        return "<columnCount>" + found.group(1) + "</columnCount>" + rows;
    }

    private static String text(Reply reply) {
        return new String(reply.body(), StandardCharsets.UTF_8);
    }

    private Reply answer(ServiceParts parts, ExecutionStrategy strategy) {
        return parts.withMemory(envelope, memory -> {
            Call call = new Call(HEAD, envelope, Query.NONE, memory, WorkLimits.NONE, strategy, "");
            return protocol.run(call).toCompletableFuture().join();
        });
    }

    /** Reading and validating, and a fault of a few bytes. */
    @Benchmark
    public Reply unmarshal(ServiceParts parts) {
        return answer(parts, new Refusing());
    }

    /** All of it. */
    @Benchmark
    public Reply soap(ServiceParts parts) {
        return answer(parts, inOrder);
    }
}
