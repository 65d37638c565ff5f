package org.restbench.execution;

import org.restbench.workload.ParallelLoop;

/**
 * What the study's published prototype does under the name of M: a new thread for each single unit, joined before the
 * next is started. No two ever run together.
 */
final class ThreadPerElementLoop implements ParallelLoop {
    @Override
    public void forEach(int units, int unitsPerTask, Body body) {
        for (int unit = 0; unit < units; unit++) {
            new Element(body, unit).startAndJoin();
        }
    }

    private static final class Element extends Thread {
        private final Body body;
        private final int unit;
        private Throwable failure;

        Element(Body body, int unit) {
            super("element");
            this.body = body;
            this.unit = unit;
        }

        @Override
        public void run() {
            try {
                body.run(unit, unit + 1);
            } catch (Throwable thrown) {
                failure = thrown;
            }
        }

        void startAndJoin() {
            start();
            try {
                join();
            } catch (InterruptedException interrupted) {
                throw Tasks.interrupted(interrupted);
            }
            if (failure != null) {
                throw Tasks.unchecked(failure);
            }
        }
    }
}
