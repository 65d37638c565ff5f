package org.restbench.client;

import java.util.Optional;
import java.util.OptionalLong;
import org.restbench.client.Outcome.Kind;

/**
 * Which failed calls are sent again. A refused connection and the error 008 (busy) are retried for any call, because
 * the service has done no work. A cut connection and a timeout are retried only where {@code idempotent} or
 * {@code onTimeout} allow it. No other failure is retried.
 *
 * @param attempts largest number of attempts of a call, the first included, 1 to 100
 * @param busyAttempts the same where the service answers 008, 1 to 100
 * @param idempotent whether a call may be executed twice: a call whose connection was cut is then sent again
 * @param onTimeout whether a call that exceeded its time is sent again
 * @param seed of the random numbers that vary the waits
 */
public record Retries(int attempts, int busyAttempts, boolean idempotent, boolean onTimeout, long seed) {
    public static final Retries NONE = new Retries(1, 1, false, false, 0);
    /** Retries that are safe for any call. */
    public static final Retries SAFE = new Retries(3, 10, false, false, 0);

    /** Retries of calls that may be executed twice. */
    public static final Retries IDEMPOTENT = new Retries(3, 10, true, false, 0);

    private static final int MOST = 100;
    private static final double FIRST_NANOS = 50e6;
    private static final double MOST_RETRY_AFTER_S = 5;

    public Retries {
        Limits.within("attempts", attempts, MOST);
        Limits.within("busyAttempts", busyAttempts, MOST);
    }

    /**
     * Nanoseconds to wait before the next attempt; empty where the call is not sent again. The wait is the answer's
     * Retry-After, at most 5 s. Without that header it doubles from 50 ms, times a random factor from 0.5 to 1.5.
     *
     * @param errorCode of a refusal; else null
     * @param made number of attempts so far
     * @param retryAfter the answer's header, in whole seconds; anything else is ignored
     * @param uniform a random number from 0 to 1
     */
    public OptionalLong waitNanos(Kind kind, String errorCode, int made, Optional<String> retryAfter, double uniform) {
        boolean isBusy = kind == Kind.REFUSED && ServiceRefused.BUSY.equals(errorCode);
        boolean isRepeated = switch (kind) {
            case CONNECT -> true;
            case REFUSED -> isBusy;
            case CUT_OFF -> idempotent;
            case TIMEOUT -> onTimeout;
            default -> false;
        };
        if (!isRepeated || made >= (isBusy ? busyAttempts : attempts)) {
            return OptionalLong.empty();
        }
        double backOff = FIRST_NANOS * Math.pow(2, made - 1) * (0.5 + uniform);
        double wait = retryAfter
                .filter(text -> text.matches("[0-9]{1,9}"))
                .map(text -> Math.min(MOST_RETRY_AFTER_S, Double.parseDouble(text)) * 1e9)
                .orElse(backOff);
        return OptionalLong.of((long) wait);
    }
}
