package org.restbench.codec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.restbench.workload.Workload;

/** The table of workloads a service offers, each with its operations, in its order. Open until it is closed. */
public record Workloads(List<CodedWorkload<?, ?>> operations) implements AutoCloseable {
    public static Workloads of(List<CodedWorkload<?, ?>> operations) {
        Workloads workloads = new Workloads(List.copyOf(operations));
        workloads.each().forEach(Workload::open);
        return workloads;
    }

    /** By the name in their path, each with its first operation. */
    public Map<String, CodedWorkload<?, ?>> byName() {
        Map<String, CodedWorkload<?, ?>> byName = new LinkedHashMap<>();
        operations.forEach(each -> byName.putIfAbsent(each.name(), each));
        return byName;
    }

    private List<? extends Workload<?, ?>> each() {
        return byName().values().stream().map(CodedWorkload::workload).toList();
    }

    @Override
    public void close() {
        each().forEach(Workload::close);
    }
}
