package org.restbench.client.strategy;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import org.restbench.client.Outcome;

/** The last buffer: outcomes until they are taken, as they came or in the order of their inputs. */
final class Results<R> {
    private final Queue<Outcome<R>> ready = new ArrayDeque<>();
    private final Map<Long, Outcome<R>> early = new HashMap<>();
    private final boolean ordered;
    private final int queue;
    private long turn;
    private int peak;

    Results(boolean ordered, int queue) {
        this.ordered = ordered;
        this.queue = queue;
    }

    void add(Outcome<R> outcome) {
        if (!ordered) {
            ready.add(outcome);
        } else {
            early.put(outcome.index(), outcome);
            for (Outcome<R> next = early.remove(turn); next != null; next = early.remove(turn)) {
                ready.add(next);
                turn++;
            }
        }
        peak = Math.max(peak, ready.size() - overflow());
    }

    /** Null where none is there, or it is another's turn. */
    Outcome<R> poll() {
        return ready.poll();
    }

    boolean isEmpty() {
        return ready.isEmpty();
    }

    /**
     * Outcomes beyond the bound. In order there is none: one that has to wait would hold up those that it waits for.
     */
    int overflow() {
        return ordered ? 0 : Math.max(0, ready.size() - queue);
    }

    int peak() {
        return peak;
    }
}
