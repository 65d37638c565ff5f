package org.restbench.execution;

import org.restbench.workload.Workload;

/**
 * A strategy as it is offered.
 *
 * @param name the last part of the path
 * @param key the study's name for it, null where it has none
 * @param description one sentence
 * @param cuts how it cuts loops
 */
public record Technique(String name, String key, String description, Cuts cuts, ExecutionStrategy strategy) {
    /** How a strategy cuts the loop of a request. */
    public enum Cuts {
        /** Not at all: what it is does not depend on there being a loop. */
        NOTHING,
        /** By the grain that the loop asks for, or coarser. */
        TASKS,
        /** Each unit is a task of its own, whatever grain the loop asks for. */
        UNITS
    }

    /** Whether it runs workloads of this kind: one that would run as another strategy does is not offered. */
    public boolean takes(Workload<?, ?> workload) {
        return cuts == Cuts.NOTHING || workload.hasLoops() && (cuts == Cuts.TASKS || workload.takesSingleUnits());
    }
}
