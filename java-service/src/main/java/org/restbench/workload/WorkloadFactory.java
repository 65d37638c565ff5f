package org.restbench.workload;

import java.util.List;
import java.util.function.Function;

/** Makes a workload for one request. */
@FunctionalInterface
public interface WorkloadFactory {
    /** @param queryValues all values of a query parameter, by its name; empty where it was not given */
    Workload<?, ?> forRequest(Function<String, List<String>> queryValues);
}
