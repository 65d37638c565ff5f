package org.restbench.client;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Where time comes from: tests replace it. */
public interface Clock {
    /** The machine's. Its timer thread ends when nothing was waited for during 1 s. */
    Clock SYSTEM = new Clock() {
        private final ScheduledThreadPoolExecutor timer = timer();

        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }

        @Override
        public Runnable after(long nanos, Runnable action) {
            Future<?> due = timer.schedule(action, nanos, TimeUnit.NANOSECONDS);
            return () -> due.cancel(false);
        }
    };

    /** Since any moment. */
    long nanos();

    void sleep(long nanos) throws InterruptedException;

    /** Runs an action in so many nanoseconds, which must not block; returned is what calls it off. */
    Runnable after(long nanos, Runnable action);

    private static ScheduledThreadPoolExecutor timer() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "restbench-timer");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(1, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }
}
