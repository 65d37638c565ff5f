package org.restbench.microbench;

import static org.restbench.workload.TestLoops.IN_ORDER;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The stages before and after a computation; neither knows of a kernel. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class StageBenchmark {
    private static final String ANY_KERNEL = "native";

    /** A result that waits to be written. */
    @State(Scope.Benchmark)
    public static class Result {
        private Object output;

        @Setup
        public void compute(ServiceParts parts, MatrixBody body) {
            var matrix = parts.matrix();
            Object input = parts.withMemory(body.bytes(), memory -> parts.decode(ANY_KERNEL, body.bytes(), memory));
            output = matrix.workload().compute(input, IN_ORDER);
            body.requireRight(matrix.codec().encode(output));
        }
    }

    @Benchmark
    public Object parse(ServiceParts parts, MatrixBody body) {
        return parts.withMemory(body.bytes(), memory -> parts.decode(ANY_KERNEL, body.bytes(), memory));
    }

    @Benchmark
    public byte[] serialize(ServiceParts parts, Result result) {
        return parts.matrix().codec().encode(result.output);
    }
}
