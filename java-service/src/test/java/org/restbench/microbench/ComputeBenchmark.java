package org.restbench.microbench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;

/** A computation under a strategy, its dispatch included, with nothing to parse and nothing to write. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Benchmark)
public class ComputeBenchmark {
    @Param("serial")
    public String strategy;

    @Param({"loops", "native"})
    public String kernel;

    private ExecutionStrategy executing;
    private Object input;

    @Setup
    public void parse(ServiceParts parts, MatrixBody body) {
        executing = parts.strategy(strategy);
        input = parts.withMemory(body.bytes(), memory -> parts.decode(kernel, body.bytes(), memory));
        body.requireRight(parts.withMemory(
                body.bytes(), memory -> answer(parts.job(parts.matrix(), kernel, body.bytes(), memory))));
    }

    @Benchmark
    public byte[] compute(ServiceParts parts, MatrixBody body) {
        return parts.withMemory(
                body.bytes(),
                memory -> answer(
                        parts.job(ComputeOnly.of(parts.matrix().workload(), input), kernel, body.bytes(), memory)));
    }

    private byte[] answer(Job<?, ?> job) {
        return executing.execute(job).toCompletableFuture().join();
    }
}
