package org.restbench.execution;

import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** The three stages of a request, one after the other on the current thread. */
final class Stages {
    private Stages() {}

    static <I, O> byte[] run(Workload<I, O> workload, byte[] body, ParallelLoop loop, StageClock clock) {
        I input = clock.parse(() -> workload.parse(body));
        O output = clock.compute(() -> workload.compute(input, loop));
        return clock.serialize(() -> workload.serialize(output));
    }
}
