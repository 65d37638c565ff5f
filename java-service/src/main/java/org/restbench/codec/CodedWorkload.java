package org.restbench.codec;

import org.restbench.workload.Workload;

/** A workload and how it is asked for and answers. */
public record CodedWorkload<I, O>(Workload<I, O> workload, Codec<I, O> codec) {
    /** The first part of its path. */
    public String name() {
        return workload.name();
    }
}
