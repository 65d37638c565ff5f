package org.restbench.microbench;

import java.util.List;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.restbench.affinity.CoreAffinity;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.execution.Calibration;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Strategies;
import org.restbench.execution.Technique;
import org.restbench.memory.MemoryBudget;
import org.restbench.settings.Cores;
import org.restbench.settings.Settings;
import org.restbench.settings.Wiring;
import org.restbench.workload.Workload;
import org.restbench.workload.WorkloadFactory;
import org.restbench.workload.Workloads;

/** What a request meets behind HTTP, put together as the service does it. */
@State(Scope.Benchmark)
public class ServiceParts {
    private final MemoryBudget memory;
    private final WorkloadFactory matrix;
    private final Strategies strategies;

    public ServiceParts() {
        Settings settings = Settings.from(System.getenv());
        CoreAffinity affinity = new OpenHftAffinity();
        Wiring wiring = new Wiring();
        memory = new MemoryBudget(settings.limits().memoryBudgetBytes());
        Workloads workloads = wiring.workloads(settings, memory);
        matrix = workloads.byName().get("matrix");
        Cores cores = Cores.of(affinity.coresOfProcess(), settings.pinnedWorkers());
        Calibration calibration = wiring.calibration(settings, cores, workloads, memory);
        strategies = wiring.strategies(settings, cores, affinity, wiring.backgroundThreads(), calibration);
    }

    /** The names in the table of strategies. */
    List<String> strategyNames() {
        return strategies.all().stream().map(Technique::name).toList();
    }

    ExecutionStrategy strategy(String name) {
        return strategies.all().stream()
                .filter(technique -> technique.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + ": not one of " + strategyNames()))
                .strategy();
    }

    /** Lets a request of the matrix workload use its memory, which is free again afterwards. */
    <T> T request(String kernel, byte[] body, Function<Workload<Object, Object>, T> use) {
        try (MemoryBudget.Hold hold = memory.hold(body.length)) {
            return use.apply(matrixWorkload(kernel, hold));
        }
    }

    /** Its input and output are the workload's own business: whoever has them only hands them on. */
    @SuppressWarnings("unchecked")
    private Workload<Object, Object> matrixWorkload(String kernel, MemoryBudget.Hold hold) {
        List<String> asked = List.of(kernel);
        return (Workload<Object, Object>) matrix.forRequest(name -> name.equals("kernel") ? asked : List.of(), hold);
    }

    @TearDown
    public void close() {
        strategies.close();
    }
}
