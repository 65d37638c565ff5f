package org.restbench.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** One batch under way. */
public interface Calls<R> extends AutoCloseable {
    /** The next call that ended, null after the last one. An interrupt ends the waiting, not the batch. */
    Outcome<R> take() throws InterruptedException;

    /** Takes to the end: what was not taken yet, in the order of the inputs. */
    default List<Outcome<R>> all() throws InterruptedException {
        List<Outcome<R>> all = new ArrayList<>();
        for (Outcome<R> next = take(); next != null; next = take()) {
            all.add(next);
        }
        all.sort(Comparator.comparingLong(Outcome::index));
        return all;
    }

    /**
     * No new input; calls in flight have their connections closed, and all that are left are {@link Outcome.Cancelled}.
     */
    void cancel();

    Totals totals();

    /**
     * Cancels, and waits until the threads have ended.
     *
     * @throws IllegalStateException with the names of those that ignored an interrupt for 1 s
     */
    @Override
    void close();
}
