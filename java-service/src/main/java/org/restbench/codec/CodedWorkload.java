package org.restbench.codec;

import org.restbench.workload.Workload;

/**
 * An operation of a workload: what is asked for under which path, and how it is answered.
 *
 * @param method of HTTP
 * @param template of the path behind the strategy's name, e.g. {@code /queues/{queue}/pop}; empty where nothing
 *     follows. What is in braces is any one segment, see {@link Query#path}
 */
public record CodedWorkload<I, O>(Workload<I, O> workload, Codec<I, O> codec, String method, String template) {
    /** The one operation of a workload that has no other. */
    public CodedWorkload(Workload<I, O> workload, Codec<I, O> codec) {
        this(workload, codec, "POST", "");
    }

    /** The first part of its path. */
    public String name() {
        return workload.name();
    }
}
