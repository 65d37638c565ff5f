package org.restbench.web;

import org.restbench.codec.CodedWorkload;
import org.restbench.execution.Technique;

/** One workload under one technique: what a path of the compute route stands for. */
record Route(String workload, CodedWorkload<?, ?> coded, Technique technique) {
    String path() {
        return "/" + workload + "/" + technique.name();
    }
}
