package org.restbench.execution;

import java.util.List;
import java.util.function.LongConsumer;
import org.restbench.workload.ParallelLoop;

/** As M of the study's prototype: a thread for each unit, joined before the next starts. None run together. */
record ThreadPerElement() implements Loops {
    @Override
    public long threads(List<ParallelLoop.Size> loops) {
        return loops.stream().mapToLong(ParallelLoop.Size::units).sum();
    }

    @Override
    public RequestLoop open(LongConsumer waited) {
        return (units, unitsPerTask, body) -> {
            for (int unit = 0; unit < units; unit++) {
                int from = unit;
                Tasks.Failure failure = new Tasks.Failure();
                Thread thread = new Thread(() -> failure.keep(() -> body.run(from, from + 1)), "element");
                thread.start();
                try {
                    thread.join();
                } catch (InterruptedException interrupted) {
                    throw Tasks.interrupted(interrupted);
                }
                failure.rethrow();
            }
        };
    }
}
