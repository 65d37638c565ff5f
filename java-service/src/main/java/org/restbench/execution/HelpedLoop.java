package org.restbench.execution;

import java.util.function.IntSupplier;
import org.restbench.workload.ParallelLoop;

/** A request's loops, each with the help of those who are idle when it begins. */
final class HelpedLoop implements ParallelLoop {
    private final Crew crew;
    private final IntSupplier workers;
    private final Runnable firstHelp;
    private boolean helped;

    /**
     * @param workers that there are for a loop now, the one that asks for it among them
     * @param firstHelp run after the first loop that others took a part of
     */
    HelpedLoop(Crew crew, IntSupplier workers, Runnable firstHelp) {
        this.crew = crew;
        this.workers = workers;
        this.firstHelp = firstHelp;
    }

    @Override
    public void forEach(int units, int unitsPerTask, Body body) {
        int there = workers.getAsInt();
        if (there <= 1 || units <= unitsPerTask) {
            body.run(0, units);
        } else if (crew.share(there, units, unitsPerTask, body) && !helped) {
            helped = true;
            firstHelp.run();
        }
    }
}
