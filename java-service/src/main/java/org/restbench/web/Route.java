package org.restbench.web;

import org.restbench.execution.Technique;
import org.restbench.workload.WorkloadFactory;

/** One workload under one technique: what a path of the compute route stands for. */
record Route(String workload, WorkloadFactory factory, Technique technique) {
    String path() {
        return "/" + workload + "/" + technique.name();
    }
}
