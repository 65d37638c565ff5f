package org.restbench.execution;

import org.restbench.workload.Workload;

/**
 * A strategy as it is offered.
 *
 * @param name the last part of the path
 * @param key the study's name for it, null where it has none
 * @param description one sentence
 * @param singleUnits whether it runs each unit of a loop as a task of its own, whatever grain the loop asks for
 */
public record Technique(String name, String key, String description, boolean singleUnits, ExecutionStrategy strategy) {
    /** Whether it runs workloads of this kind. */
    public boolean takes(Workload<?, ?> workload) {
        return !singleUnits || workload.takesSingleUnits();
    }
}
