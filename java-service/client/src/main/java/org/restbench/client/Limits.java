package org.restbench.client;

import java.time.Duration;
import java.util.Objects;

/**
 * The bounds of a batch.
 *
 * @param inFlight calls between sending and answer at once, 1 to 100 000
 * @param queue messages in each buffer between two stages, 1 to 100 000
 * @param perCall from the begin of C to the last byte of the answer, more than 0
 * @param whole of the batch, waiting in buffers included; null for no bound
 * @param maxAnswerBytes of an answer's body, at least 1
 * @param retries which failures are sent again
 * @param ordered whether outcomes come in the order of the inputs
 */
public record Limits(
        int inFlight,
        int queue,
        Duration perCall,
        Duration whole,
        int maxAnswerBytes,
        Retries retries,
        boolean ordered) {
    private static final int MOST = 100_000;

    /** 64 in flight, 16 in a buffer, 30 s a call, 64 MiB an answer, no retries, in the order of finishing. */
    public static final Limits DEFAULT =
            new Limits(64, 16, Duration.ofSeconds(30), null, 64 << 20, Retries.NONE, false);

    public Limits {
        within("inFlight", inFlight, MOST);
        within("queue", queue, MOST);
        within("maxAnswerBytes", maxAnswerBytes, Integer.MAX_VALUE);
        positive("perCall", Objects.requireNonNull(perCall, "perCall"));
        positive("whole", whole == null ? perCall : whole);
        Objects.requireNonNull(retries, "retries");
    }

    /** The value; IllegalArgumentException with name and range where it is not from 1 to {@code most}. */
    public static int within(String name, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(name + ": must be from 1 to " + most + ", is " + value);
        }
        return value;
    }

    private static void positive(String name, Duration value) {
        if (value.isNegative() || value.isZero() || value.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(name + ": must be more than 0 and at most 1 day, is " + value);
        }
    }

    public Limits withInFlight(int calls) {
        return new Limits(calls, queue, perCall, whole, maxAnswerBytes, retries, ordered);
    }

    /** The two as {@code perCall} and {@code whole}. */
    public Limits withDeadlines(Duration call, Duration batch) {
        return new Limits(inFlight, queue, call, batch, maxAnswerBytes, retries, ordered);
    }

    public Limits withRetries(Retries which) {
        return new Limits(inFlight, queue, perCall, whole, maxAnswerBytes, which, ordered);
    }
}
