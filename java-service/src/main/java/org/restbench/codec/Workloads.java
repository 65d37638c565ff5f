package org.restbench.codec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The table of workloads a service offers: in its order, by the name in their path. Open until it is closed. */
public record Workloads(Map<String, CodedWorkload<?, ?>> byName) implements AutoCloseable {
    public static Workloads of(List<CodedWorkload<?, ?>> workloads) {
        Map<String, CodedWorkload<?, ?>> byName = new LinkedHashMap<>();
        for (CodedWorkload<?, ?> each : workloads) {
            each.workload().open();
            byName.put(each.name(), each);
        }
        return new Workloads(byName);
    }

    @Override
    public void close() {
        byName.values().forEach(each -> each.workload().close());
    }
}
