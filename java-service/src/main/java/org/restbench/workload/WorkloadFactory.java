package org.restbench.workload;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.restbench.memory.MemoryBudget;

/** Makes a workload for one request. */
@FunctionalInterface
public interface WorkloadFactory {
    /**
     * A small request whose stages can be timed.
     *
     * @param query all values of each parameter
     */
    record Sample(Map<String, List<String>> query, byte[] body) {
        /** As a factory asks for them. */
        public List<String> queryValues(String name) {
            return query.getOrDefault(name, List.of());
        }
    }

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

    /** A request of each kind of work, to find what it costs here; a kind without one is taken for an ordinary one. */
    default List<Sample> samples() {
        return List.of();
    }

    /** This factory with samples of what it makes. */
    default WorkloadFactory withSamples(List<Sample> samples) {
        return new Described(this, takesSingleUnits(), samples);
    }

    /** A factory of workloads whose loops have to be cut no finer than their grain. */
    static WorkloadFactory ofWholeTasks(WorkloadFactory factory) {
        return new Described(factory, false, factory.samples());
    }

    /** A factory with what there is to know of its workloads. */
    record Described(WorkloadFactory factory, boolean takesSingleUnits, List<Sample> samples)
            implements WorkloadFactory {
        @Override
        public Workload<?, ?> forRequest(Function<String, List<String>> queryValues, MemoryBudget.Hold memory) {
            return factory.forRequest(queryValues, memory);
        }
    }
}
