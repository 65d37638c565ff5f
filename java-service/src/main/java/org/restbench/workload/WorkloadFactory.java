package org.restbench.workload;

import java.util.List;
import java.util.function.Function;
import org.restbench.memory.MemoryBudget;

/** Makes a workload for one request. */
@FunctionalInterface
public interface WorkloadFactory {
    /**
     * @param queryValues all values of a query parameter, by its name; empty where it was not given
     * @param memory has room for the body and for reading it as JSON; what else the workload allocates in proportion to
     *     its input it takes from here first. Ends with the request.
     */
    Workload<?, ?> forRequest(Function<String, List<String>> queryValues, MemoryBudget.Hold memory);

    /**
     * Whether a loop's units may each be a task of their own. Where they are far smaller than the grain that the
     * workload asks for, a technique that cuts all loops so does not take it.
     */
    default boolean takesSingleUnits() {
        return true;
    }

    /** A factory of workloads whose loops have to be cut no finer than their grain. */
    static WorkloadFactory ofWholeTasks(WorkloadFactory factory) {
        return new WorkloadFactory() {
            @Override
            public Workload<?, ?> forRequest(Function<String, List<String>> queryValues, MemoryBudget.Hold memory) {
                return factory.forRequest(queryValues, memory);
            }

            @Override
            public boolean takesSingleUnits() {
                return false;
            }
        };
    }
}
