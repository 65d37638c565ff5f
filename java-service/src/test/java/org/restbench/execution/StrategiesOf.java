package org.restbench.execution;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies.Technique;
import org.restbench.memory.MemoryBudget;

/** All strategies as on a machine with so many cores, one of them pinned to a core that there is. */
public final class StrategiesOf {
    private StrategiesOf() {}

    public static Strategies cores(int cores) {
        OpenHftAffinity affinity = new OpenHftAffinity();
        int core = affinity.coresOfProcess().length() - 1;
        return new Strategies(affinity, List.of(core), cores, 2, 200, 0);
    }

    /** The one of a name. */
    public static ExecutionStrategy named(String name, Strategies strategies) {
        return strategies.all().stream()
                .filter(technique -> technique.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + ": not one of " + names(strategies)))
                .strategy();
    }

    /** What a strategy answers a body with. */
    public static byte[] answer(
            ExecutionStrategy strategy, CodedWorkload<?, ?> workload, String body, MemoryBudget budget) {
        try (MemoryBudget.Hold memory = budget.hold(0)) {
            byte[] sent = body.getBytes(StandardCharsets.UTF_8);
            Job<?, ?> job = new Job<>(workload, sent, Query.NONE, memory, WorkLimits.NONE, () -> true);
            return Jobs.answer(strategy.execute(job));
        }
    }

    public static List<String> names(Strategies strategies) {
        return strategies.all().stream().map(Technique::name).toList();
    }
}
