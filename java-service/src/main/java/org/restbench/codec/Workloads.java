package org.restbench.codec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The table of workloads a service offers: in its order, by the name in their path. */
public record Workloads(Map<String, CodedWorkload<?, ?>> byName) {
    public static Workloads of(List<CodedWorkload<?, ?>> workloads) {
        Map<String, CodedWorkload<?, ?>> byName = new LinkedHashMap<>();
        workloads.forEach(each -> byName.put(each.name(), each));
        return new Workloads(byName);
    }
}
