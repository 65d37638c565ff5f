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
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/** What a strategy costs where there is nothing to do: the loop of a product of so many rows under a kernel. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Benchmark)
public class DispatchBenchmark {
    private static final byte[] NO_BODY = {};
    private static final MemoryBudget.Hold NO_MEMORY = new MemoryBudget(1).hold(0);

    @Param("serial")
    public String strategy;

    @Param({"loops", "native"})
    public String kernel;

    @Param("1")
    public int rows;

    private ExecutionStrategy executing;
    private CodedWorkload<MatrixRequest, MatrixRequest> nothing;

    @Setup
    public void find(ServiceParts parts) {
        executing = parts.strategy(strategy);
        nothing = ComputeOnly.of(new NothingToDo(), NothingToDo.product(kernel, rows));
    }

    @Benchmark
    public byte[] dispatch() {
        Job<?, ?> job = new Job<>(nothing, NO_BODY, Query.NONE, NO_MEMORY, WorkLimits.NONE, () -> true);
        return executing.execute(job).toCompletableFuture().join();
    }
}
