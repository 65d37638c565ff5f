package org.restbench.execution;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.restbench.workload.ParallelLoop;

/**
 * One loop that several threads work on: the thread that asks for it, and whoever comes to help. There is a piece for
 * each, and each claims the next one, so nobody waits for a helper that has not begun. Pieces are as large as that
 * allows, because kernels are quicker over long runs of units: of 1000³ in tiles, pieces of 31 rows take twice the time
 * of halves.
 */
final class CutLoop {
    private final int units;
    private final int unitsPerTask;
    private final int tasks;
    private final int tasksPerPiece;
    private final ParallelLoop.Body body;
    private final Thread owner = Thread.currentThread();
    private final AtomicInteger places;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger working = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean helped;

    /** @param workers that there are for it, the owner among them, which is the current thread */
    CutLoop(int units, int unitsPerTask, int workers, ParallelLoop.Body body) {
        this.units = units;
        this.unitsPerTask = unitsPerTask;
        this.tasks = Tasks.count(units, unitsPerTask);
        this.tasksPerPiece = Tasks.count(tasks, workers);
        this.body = body;
        this.places = new AtomicInteger(Math.min(workers, tasks) - 1);
    }

    /** How many more may come to help. */
    int places() {
        return places.get();
    }

    /** Takes one of the places, if there is one and something is left: no more come than there were cores for. */
    boolean join() {
        return left() && places.getAndUpdate(free -> Math.max(0, free - 1)) > 0;
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
                int to = Math.min(tasks, from + tasksPerPiece);
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
