package org.restbench.execution;

import org.restbench.workload.Workload;

/**
 * A strategy as it is offered to clients.
 *
 * @param name the part of a path after the workload's name
 * @param key the study's name for it, null where it has none
 * @param description one sentence
 * @param cuts how the strategy cuts loops
 */
public record Technique(String name, String key, String description, Cuts cuts, ExecutionStrategy strategy) {
    public enum Cuts {
        /** Not at all: the strategy works in the same way with or without loops. */
        NOTHING,
        /** Into tasks of the grain that the loop asks for, or coarser ones. */
        TASKS,
        /** Each unit is a task of its own, whatever grain the loop asks for. */
        UNITS
    }

    /**
     * Whether the strategy is offered for this workload. A strategy that cuts loops is not offered where there are
     * none, as it would run as another strategy does, and one that cuts single units is not offered where these are too
     * small.
     */
    public boolean takes(Workload<?, ?> workload) {
        return cuts == Cuts.NOTHING || workload.hasLoops() && (cuts == Cuts.TASKS || workload.takesSingleUnits());
    }
}
