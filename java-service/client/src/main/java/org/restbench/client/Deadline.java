package org.restbench.client;

import java.time.Duration;

/** A moment of a clock. */
public record Deadline(long atNanos, Clock clock) {
    public static Deadline in(Duration time, Clock clock) {
        return new Deadline(clock.nanos() + time.toNanos(), clock);
    }

    /** At most 0 once it has passed. */
    public long leftNanos() {
        return atNanos - clock.nanos();
    }

    /** Runs an action at this moment, which must not block; returned is what calls it off. */
    public Runnable whenPassed(Runnable action) {
        return clock.after(leftNanos(), action);
    }
}
