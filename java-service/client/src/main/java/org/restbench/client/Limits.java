package org.restbench.client;

import java.time.Duration;
import java.util.Objects;

/**
 * The bounds of a batch.
 *
 * @param inFlight largest number of calls between sending and answer at once, 1 to 100 000
 * @param queue largest number of messages in each buffer between two stages, 1 to 100 000
 * @param perCall time of one attempt, from the start of C to the last byte of the answer; more than 0, at most 1 day
 * @param whole time of the whole batch, waiting in buffers included; at most 1 day, null for no bound
 * @param maxAnswerBytes largest size of an answer's body in bytes, at least 1
 * @param retries which failed calls are sent again
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

    /**
     * 64 calls in flight, 16 messages in a buffer, 30 s per call, no bound for the batch, 64 MiB per answer, no
     * retries, outcomes in the order of finishing.
     */
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

    /** Returns the value. Throws IllegalArgumentException with name and range unless it is from 1 to {@code most}. */
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

    /** These limits with {@code call} as {@code perCall} and {@code batch} as {@code whole}. */
    public Limits withDeadlines(Duration call, Duration batch) {
        return new Limits(inFlight, queue, call, batch, maxAnswerBytes, retries, ordered);
    }

    public Limits withRetries(Retries which) {
        return new Limits(inFlight, queue, perCall, whole, maxAnswerBytes, which, ordered);
    }
}
