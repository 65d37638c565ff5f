package org.restbench.client.strategy;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** Threads that work for a batch, also taking threads that make its calls. Used under its lock, save awaitEnd. */
final class Threads {
    private static final long END_NANOS = 1_000_000_000;
    /** Looked up by name: the library is compiled for Java 17. Null where there are no virtual threads. */
    private static final Method START_VIRTUAL = Stream.of(Thread.class.getMethods())
            .filter(method -> method.getName().equals("startVirtualThread"))
            .findFirst()
            .orElse(null);

    private final Map<String, Set<Thread>> alive = new HashMap<>();
    private final Map<String, Integer> peaks = new HashMap<>();
    private final ReentrantLock lock;
    /** Signalled when a thread has ended its work for the batch. */
    private final Condition ended;

    /** Number of threads in all. A taking thread that makes calls counts once for each call. */
    long made;

    Threads(ReentrantLock lock) {
        this.lock = lock;
        ended = lock.newCondition();
    }

    static boolean haveVirtual() {
        return START_VIRTUAL != null;
    }

    static void startVirtual(Runnable work) {
        try {
            START_VIRTUAL.invoke(null, work);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException("no virtual thread, though this Java has them", failed);
        }
    }

    /** Counts a thread as working for the batch, until {@link #leave}. */
    void enter(Thread thread, String name) {
        Set<Thread> same = alive.computeIfAbsent(name, any -> new HashSet<>());
        same.add(thread);
        made++;
        peaks.merge(name, same.size(), Math::max);
    }

    void leave(Thread thread) {
        alive.values().forEach(same -> same.remove(thread));
        ended.signalAll();
    }

    /** Largest number of threads at once, by name without the number. */
    Map<String, Integer> peaks() {
        return Map.copyOf(peaks);
    }

    void interruptOthers() {
        others().forEach(Thread::interrupt);
    }

    private List<Thread> others() {
        return alive.values().stream()
                .flatMap(Set::stream)
                .filter(thread -> thread != Thread.currentThread())
                .toList();
    }

    /** Waits until all threads but the calling one have ended. Returns the names of those still running after 1 s. */
    List<String> awaitEnd() {
        lock.lock();
        boolean isInterrupted = false;
        try {
            long left = END_NANOS;
            while (left > 0 && !others().isEmpty()) {
                try {
                    left = ended.awaitNanos(left);
                } catch (InterruptedException later) {
                    isInterrupted = true;
                }
            }
            return others().stream()
                    .map(thread -> thread.getName().isEmpty() ? "a virtual thread" : thread.getName())
                    .toList();
        } finally {
            lock.unlock();
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
