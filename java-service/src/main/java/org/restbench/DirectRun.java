package org.restbench;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import org.restbench.affinity.CoreAffinity;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Strategies;
import org.restbench.execution.Technique;
import org.restbench.execution.WorkLimits;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.settings.Cores;
import org.restbench.settings.Settings;
import org.restbench.workload.InvalidRequest;

/**
 * Runs a kernel without HTTP under any technique: the "normal execution" to compare the service with. It uses the
 * service's own codec, workload and strategy, and prints each response as one line.
 */
record DirectRun(CodedWorkload<?, ?> workload, ExecutionStrategy strategy, MemoryBudget memory) {
    private static final Wiring WIRING = new Wiring();

    /** Standard output takes no more: the disk is full, or nobody reads any longer. */
    static final class Unwritten extends RuntimeException {
        private Unwritten() {
            super("standard output takes no more", null, false, false);
        }
    }

    /**
     * @param out receives the responses, and nothing else
     * @throws DirectArguments.InvalidArguments where there is no such kernel, class or technique, or too little memory
     * @throws Unwritten where a response cannot be written
     */
    static void run(DirectArguments arguments, Settings settings, CoreAffinity affinity, PrintStream out) {
        MemoryBudget memory = new MemoryBudget(settings.memoryBudgetBytes());
        Cores cores = Cores.of(affinity.coresOfProcess(), settings.pinnedWorkers());
        try (Workloads workloads = WIRING.workloads(settings, memory);
                Strategies strategies = WIRING.strategies(settings, cores, affinity)) {
            CodedWorkload<?, ?> workload = arguments.workloadOf(workloads);
            Technique technique = arguments.techniqueOf(strategies.all(), workload.workload());
            DirectRun run = new DirectRun(workload, technique.strategy(), memory);
            for (int i = 1; i <= arguments.repetitions(); i++) {
                out.println(run.response(arguments.body(i)));
                if (out.checkError()) {
                    throw new Unwritten();
                }
            }
        }
    }

    private String response(byte[] body) {
        try (MemoryBudget.Hold hold = memory.hold(body.length)) {
            Job<?, ?> job = new Job<>(workload, body, Query.NONE, hold, WorkLimits.NONE, () -> true);
            byte[] json = strategy.execute(job).toCompletableFuture().join();
            return new String(json, StandardCharsets.UTF_8);
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof InvalidRequest || failed.getCause() instanceof MemoryRefused) {
                throw new DirectArguments.InvalidArguments(failed.getCause().getMessage());
            }
            throw failed;
        }
    }
}
