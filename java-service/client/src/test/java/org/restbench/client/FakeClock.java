package org.restbench.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A clock that goes only where it is told to. */
final class FakeClock implements Clock {
    private final TreeMap<Long, List<Runnable>> due = new TreeMap<>();
    private long now;

    @Override
    public synchronized long nanos() {
        return now;
    }

    @Override
    public synchronized void sleep(long nanos) throws InterruptedException {
        long until = now + nanos;
        Runnable off = after(nanos, () -> {});
        try {
            while (now < until) {
                wait();
            }
        } finally {
            off.run();
        }
    }

    @Override
    public synchronized Runnable after(long nanos, Runnable action) {
        long at = now + Math.max(0, nanos);
        due.computeIfAbsent(at, any -> new ArrayList<>()).add(action);
        return () -> remove(at, action);
    }

    private synchronized void remove(long at, Runnable action) {
        List<Runnable> then = due.get(at);
        if (then != null && then.remove(action) && then.isEmpty()) {
            due.remove(at);
        }
    }

    /** Whether nobody waits for anything. */
    synchronized boolean isIdle() {
        return due.isEmpty();
    }

    /** To the next moment that someone waits for, at most so far; what is due then runs. */
    void step(long mostNanos) {
        Map.Entry<Long, List<Runnable>> next;
        synchronized (this) {
            next = due.firstEntry();
            if (next == null || next.getKey() > now + mostNanos) {
                now += mostNanos;
                next = null;
            } else {
                now = Math.max(now, next.getKey());
                due.remove(next.getKey());
            }
            notifyAll();
        }
        if (next != null) {
            next.getValue().forEach(Runnable::run);
        }
    }
}
