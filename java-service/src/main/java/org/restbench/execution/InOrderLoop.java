package org.restbench.execution;

import org.restbench.workload.ParallelLoop;

/** All units in order, on the thread that asks. */
final class InOrderLoop implements ParallelLoop {
    @Override
    public void forEach(int units, int unitsPerTask, Body body) {
        body.run(0, units);
    }
}
