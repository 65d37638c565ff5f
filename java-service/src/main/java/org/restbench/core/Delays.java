package org.restbench.core;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The waits that requests ask for: a response time that is not work. Who waits holds its place and its body, and no
 * thread. All of them end when the service stops.
 */
public final class Delays implements AutoCloseable {
    private final int maxMillis;
    private final int mostAtOnce;
    private final AtomicInteger count = new AtomicInteger();
    private final Set<CompletableFuture<Void>> waits = ConcurrentHashMap.newKeySet();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "delay-timer");
        thread.setDaemon(true);
        return thread;
    });

    private volatile boolean stopping;

    /**
     * @param maxMillis the longest wait that may be asked for
     * @param maxInFlight requests in flight, of which half may wait at once: the others are served meanwhile
     */
    public Delays(int maxMillis, int maxInFlight) {
        this.maxMillis = maxMillis;
        this.mostAtOnce = Math.max(1, maxInFlight / 2);
    }

    int maxMillis() {
        return maxMillis;
    }

    int waiting() {
        return count.get();
    }

    /**
     * Begins a wait, which is never shorter than asked unless the service stops.
     *
     * @return done when it is over, on the timer's thread, which must not be kept
     * @throws RequestRefused 008 where as many wait as may
     */
    CompletableFuture<Void> begin(int millis) {
        CompletableFuture<Void> wait = new CompletableFuture<>();
        if (millis == 0) {
            wait.complete(null);
            return wait;
        }
        if (count.getAndUpdate(now -> now < mostAtOnce ? now + 1 : now) >= mostAtOnce) {
            throw new RequestRefused(Refusal.busy("the service is at its limit of requests that wait for their delay"));
        }
        CompletableFuture<Void> over = wait.thenRun(() -> {
            waits.remove(wait);
            count.decrementAndGet();
        });
        waits.add(wait);
        timer.schedule(() -> wait.complete(null), millis, TimeUnit.MILLISECONDS);
        if (stopping) {
            wait.complete(null);
        }
        return over;
    }

    /** Ends all waits; those that begin from now on are over at once. */
    public void end() {
        stopping = true;
        waits.forEach(each -> each.complete(null));
    }

    /** To be called when no request can come any more. */
    @Override
    public void close() {
        end();
        timer.shutdownNow();
    }
}
