package org.restbench.codec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.restbench.workload.Workload;

/** The operations of all workloads, in the order of the offer. The workloads are open until it is closed. */
public record Workloads(List<CodedWorkload<?, ?>> operations) implements AutoCloseable {
    public static Workloads of(List<CodedWorkload<?, ?>> operations) {
        Workloads workloads = new Workloads(List.copyOf(operations));
        workloads.each().forEach(Workload::open);
        return workloads;
    }

    /** The first operation of each workload, by the workload's name in paths. */
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

    /**
     * One operation of a workload, with its codec, its HTTP method and its path.
     *
     * @param method of HTTP
     * @param template the part of the path after the strategy's name, e.g. {@code /queues/{queue}/pop}; empty where
     *     nothing follows. A segment in braces stands for any one segment, see {@link Query#path}
     */
    public record CodedWorkload<I, O>(Workload<I, O> workload, Codec<I, O> codec, String method, String template) {
        public CodedWorkload(Workload<I, O> workload, Codec<I, O> codec) {
            this(workload, codec, "POST", "");
        }

        /** The workload's name, which is the first part of the path. */
        public String name() {
            return workload.name();
        }
    }
}
