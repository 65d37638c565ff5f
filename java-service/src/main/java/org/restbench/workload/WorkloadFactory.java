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
}
