package org.restbench.execution;

import java.util.concurrent.TimeUnit;

/** A moment until which is waited, for whatever is waited for. */
public record Deadline(long atNanos) {
    public static Deadline afterSeconds(int seconds) {
        return new Deadline(System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
    }

    /** 0 where it has passed. */
    long remainingNanos() {
        return Math.max(0, atNanos - System.nanoTime());
    }
}
