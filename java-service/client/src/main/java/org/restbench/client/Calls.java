package org.restbench.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

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

    /** No new input; connections in flight are closed, and all that are left are {@link Outcome.Cancelled}. */
    void cancel();

    Totals totals();

    /** Cancels, and waits for the threads; IllegalStateException names those that ignore an interrupt for 1 s. */
    @Override
    void close();

    /**
     * What a batch took so far.
     *
     * @param wall seconds by stage, summed over the calls that ended
     * @param cpu seconds of the threads that ran the stage; 0 where no thread was held, and on virtual threads
     * @param peakInFlight most calls between sending and answer
     * @param peakQueued most messages in the buffer before C, D and P; under S most outcomes that waited to be taken
     * @param attempts how often a call was sent, retries included
     * @param peakThreads most threads at once by name without number
     * @param threadsMade in all, without the one that takes
     */
    record Totals(
            double elapsedSeconds,
            Map<Stage, Double> wall,
            Map<Stage, Double> cpu,
            int peakInFlight,
            Map<Stage, Integer> peakQueued,
            long attempts,
            long retries,
            Map<String, Integer> peakThreads,
            long threadsMade) {}
}
