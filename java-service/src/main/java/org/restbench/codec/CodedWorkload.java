package org.restbench.codec;

import org.restbench.workload.Workload;

/**
 * One operation of a workload, with its codec, its HTTP method and its path.
 *
 * @param method of HTTP
 * @param template the part of the path after the strategy's name, e.g. {@code /queues/{queue}/pop}; empty where nothing
 *     follows. A segment in braces stands for any one segment, see {@link Query#path}
 */
public record CodedWorkload<I, O>(Workload<I, O> workload, Codec<I, O> codec, String method, String template) {
    /** The operation of a workload that has only one. */
    public CodedWorkload(Workload<I, O> workload, Codec<I, O> codec) {
        this(workload, codec, "POST", "");
    }

    /** The workload's name, which is the first part of the path. */
    public String name() {
        return workload.name();
    }
}
