package org.restbench;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.restbench.affinity.CoreAffinity;
import org.restbench.execution.Calibration;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.StageClock;
import org.restbench.execution.Strategies;
import org.restbench.execution.Technique;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.settings.Cores;
import org.restbench.settings.Settings;
import org.restbench.settings.Wiring;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.WorkloadFactory;
import org.restbench.workload.Workloads;

/**
 * Runs a kernel without HTTP, under any technique: the "normal execution" beside that of the service. It takes the way
 * of a request, workload and strategy included, and prints each response as a line.
 */
final class DirectRun {
    private static final Wiring WIRING = new Wiring();

    private final WorkloadFactory workload;
    private final ExecutionStrategy strategy;
    private final MemoryBudget memory;

    private DirectRun(WorkloadFactory workload, ExecutionStrategy strategy, MemoryBudget memory) {
        this.workload = workload;
        this.strategy = strategy;
        this.memory = memory;
    }

    /**
     * @param out gets the responses, and nothing else
     * @throws DirectArguments.Wrong where there is no such kernel, class or technique, or too little memory
     */
    static void run(DirectArguments arguments, Settings settings, CoreAffinity affinity, PrintStream out) {
        MemoryBudget memory = new MemoryBudget(settings.limits().memoryBudgetBytes());
        Workloads workloads = WIRING.workloads(settings, memory);
        WorkloadFactory workload = arguments.workloadOf(workloads);
        Cores cores = Cores.of(affinity.coresOfProcess(), settings.pinnedWorkers());
        Calibration calibration = WIRING.calibration(settings, cores, workloads, memory);
        try (Strategies strategies =
                WIRING.strategies(settings, cores, affinity, WIRING.backgroundThreads(), calibration)) {
            Technique technique = arguments.techniqueOf(strategies.all(), workload);
            DirectRun run = new DirectRun(workload, technique.strategy(), memory);
            for (int i = 1; i <= arguments.repetitions(); i++) {
                out.println(run.response(arguments.body(i)));
            }
        }
    }

    private String response(byte[] body) {
        try (MemoryBudget.Hold hold = memory.hold(body.length)) {
            byte[] json = strategy.execute(workload.forRequest(name -> List.of(), hold), body, new StageClock());
            return new String(json, StandardCharsets.UTF_8);
        } catch (InvalidRequest | MemoryRefused refused) {
            throw new DirectArguments.Wrong(refused.getMessage());
        }
    }
}
