package org.restbench.execution;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.restbench.workload.ParallelLoop;

/**
 * One loop that several threads work on: the thread that asks for it, and whoever comes to help. Each claims what is
 * next, a share of what is left, so that pieces are large at first and single tasks at the end (guided self-scheduling,
 * Polychronopoulos and Kuck 1987). Nobody waits for a helper that has not begun.
 */
final class CutLoop {
    /** A claim is the part of what is left that one of so many shares for each worker would be. */
    private static final int SHARES = 2;

    private final int units;
    private final int unitsPerTask;
    private final int tasks;
    private final int workers;
    private final ParallelLoop.Body body;
    private final Thread owner = Thread.currentThread();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger working = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean helped;

    /** @param workers that there are for it, the owner among them, which is the current thread */
    CutLoop(int units, int unitsPerTask, int workers, ParallelLoop.Body body) {
        this.units = units;
        this.unitsPerTask = unitsPerTask;
        this.tasks = Tasks.count(units, unitsPerTask);
        this.workers = workers;
        this.body = body;
    }

    int tasks() {
        return tasks;
    }

    /** Whether there is something to claim. */
    boolean left() {
        return next.get() < tasks;
    }

    /** Whether anybody but the owner did a part of it. */
    boolean helped() {
        return helped;
    }

    /** By the owner: works until all is claimed, waits for what others have claimed, and throws what a body threw. */
    void run() {
        work();
        awaitOthers();
        if (failure.get() != null) {
            throw Tasks.unchecked(failure.get());
        }
    }

    /** Claims and works until nothing is left. Throws nothing: the owner is told. */
    void work() {
        working.incrementAndGet(); // before the claim: whoever sees all claimed and nobody working, sees all done
        try {
            for (int from = next.get(); from < tasks; from = next.get()) {
                int to = from + Math.max(1, (tasks - from) / (SHARES * workers));
                if (next.compareAndSet(from, to)) {
                    run(from, to);
                }
            }
        } catch (Throwable thrown) {
            failure.compareAndSet(null, thrown);
            next.set(tasks);
        } finally {
            if (working.decrementAndGet() == 0) {
                LockSupport.unpark(owner);
            }
        }
    }

    private void run(int from, int to) {
        if (!helped && Thread.currentThread() != owner) {
            helped = true;
        }
        body.run((int) ((long) from * unitsPerTask), (int) Math.min(units, (long) to * unitsPerTask));
    }

    /** An interrupt waits, too: bodies still write to what belongs to the owner. */
    private void awaitOthers() {
        boolean interrupted = false;
        while (working.get() > 0) {
            LockSupport.park(this);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            owner.interrupt();
        }
    }
}
