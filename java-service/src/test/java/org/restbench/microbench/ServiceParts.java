package org.restbench.microbench;

import java.util.List;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.restbench.Wiring;
import org.restbench.affinity.CoreAffinity;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies;
import org.restbench.execution.StrategiesOf;
import org.restbench.memory.MemoryBudget;
import org.restbench.settings.Settings;
import org.restbench.settings.Settings.Cores;
import org.restbench.soap.SoapProtocol;

/** What a request meets behind HTTP, put together as the service does it. */
@State(Scope.Benchmark)
public class ServiceParts {
    private final MemoryBudget memory;
    private final CodedWorkload<Object, Object> matrix;
    private final Workloads workloads;
    private final Strategies strategies;

    /** Its input and output are the workload's own business: whoever has them only hands them on. */
    @SuppressWarnings("unchecked")
    public ServiceParts() {
        Settings settings = Settings.from(System.getenv());
        CoreAffinity affinity = new OpenHftAffinity();
        Wiring wiring = new Wiring();
        memory = new MemoryBudget(settings.memoryBudgetBytes());
        workloads = wiring.workloads(settings, memory);
        matrix = (CodedWorkload<Object, Object>) workloads.byName().get("matrix");
        Cores cores = Cores.of(affinity.coresOfProcess(), settings.pinnedWorkers());
        strategies = wiring.strategies(settings, cores, affinity);
    }

    /** The names in the table of strategies. */
    List<String> strategyNames() {
        return StrategiesOf.names(strategies);
    }

    ExecutionStrategy strategy(String name) {
        return StrategiesOf.named(name, strategies);
    }

    CodedWorkload<Object, Object> matrix() {
        return matrix;
    }

    /** Made when it is asked for: most benchmarks need not wait for CXF. */
    SoapProtocol soap() {
        return SoapProtocol.of(workloads).get(0);
    }

    /** Lets a request use its memory, which is free again afterwards. */
    <T> T withMemory(byte[] body, Function<MemoryBudget.Hold, T> use) {
        try (MemoryBudget.Hold hold = memory.hold(body.length)) {
            return use.apply(hold);
        }
    }

    Object decode(String kernel, byte[] body, MemoryBudget.Hold hold) {
        return matrix.codec().decode(body, query(kernel), hold);
    }

    Job<?, ?> job(CodedWorkload<?, ?> workload, String kernel, byte[] body, MemoryBudget.Hold hold) {
        return new Job<>(workload, body, query(kernel), hold, WorkLimits.NONE, () -> true);
    }

    private static Query query(String kernel) {
        return new Query("kernel=" + kernel, 0, List.of());
    }

    @TearDown
    public void close() {
        strategies.close();
    }
}
