package org.restbench.client;

import java.util.Optional;
import java.util.OptionalLong;
import org.restbench.client.Outcome.Kind;

/**
 * Which failures are sent again: a refused connection and 008 always, for nothing was done; what follows with leave;
 * other errors, and failures in S, D or P, never.
 *
 * @param attempts of a call in all, 1 to 100
 * @param busyAttempts of a call in all where the service answers 008, 1 to 100
 * @param idempotent whether doing a call twice does no harm: a cut connection is repeated
 * @param onTimeout whether a deadline that passed is repeated
 * @param seed of the waits' jitter
 */
public record Retries(int attempts, int busyAttempts, boolean idempotent, boolean onTimeout, long seed) {
    public static final Retries NONE = new Retries(1, 1, false, false, 0);
    /** Those that are safe for any call. */
    public static final Retries SAFE = new Retries(3, 10, false, false, 0);

    /** Those of calls that may be done twice. */
    public static final Retries IDEMPOTENT = new Retries(3, 10, true, false, 0);

    private static final int MOST = 100;
    private static final double FIRST_NANOS = 50e6;
    private static final double MOST_RETRY_AFTER_S = 5;

    public Retries {
        Limits.within("attempts", attempts, MOST);
        Limits.within("busyAttempts", busyAttempts, MOST);
    }

    /**
     * Nanoseconds to wait before the next attempt, nothing where there is none.
     *
     * @param errorCode of a refusal, else null
     * @param made attempts so far
     * @param retryAfter the answer's header, in whole seconds; anything else is ignored
     * @param uniform from 0 to 1
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
