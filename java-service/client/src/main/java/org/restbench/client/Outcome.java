package org.restbench.client;

/** How a call ended. Each input that was pulled has exactly one outcome. */
public sealed interface Outcome<R> permits Outcome.Done, Outcome.Failed, Outcome.Cancelled {
    /** Position of the call's input in the batch, from 0. */
    long index();

    /** How often the call was sent; 0 where it never was. */
    int attempts();

    StageTimes times();

    /** The call completed all stages. */
    record Done<R>(long index, int attempts, StageTimes times, R result) implements Outcome<R> {}

    /** The call failed in {@code stage}. For {@code REFUSED} the cause is a {@link ServiceRefused}. */
    record Failed<R>(long index, int attempts, StageTimes times, Stage stage, Kind kind, Throwable cause)
            implements Outcome<R> {
        /** The service's error code of three digits; null unless the kind is {@code REFUSED}. */
        public String errorCode() {
            return kind == Kind.REFUSED && cause instanceof ServiceRefused refused ? refused.errorCode() : null;
        }
    }

    /** The batch ended before the call did. */
    record Cancelled<R>(long index, int attempts, StageTimes times) implements Outcome<R> {}

    /**
     * Why a call failed. A failure in C has the first kind here that fits the exchange's exception or one of its
     * causes.
     */
    enum Kind {
        /** No connection could be made: {@link java.net.ConnectException}. */
        CONNECT,
        /** The time of the call passed: one of the JDK's timeout exceptions. */
        TIMEOUT,
        /** The answer is larger than the limit: {@link Exchange.TooLarge}. */
        TOO_LARGE,
        /** The answer is not valid HTTP: {@link java.net.ProtocolException}. */
        NOT_HTTP,
        /**
         * The connection was closed before the end of the answer: any other {@code IOException}, or a
         * {@code CancellationException}.
         */
        CUT_OFF,
        /** The service answered with an error: {@link ServiceRefused}. */
        REFUSED,
        /** The answer is neither a result nor an error: {@link MalformedAnswer}. */
        MALFORMED,
        /** The caller's own code threw an exception, or a codec or an exchange threw an undeclared one. */
        USER
    }

    /**
     * The times of a call in nanoseconds. Moments count from the start of the batch; -1 means never.
     *
     * @param begun moment at which the input was pulled
     * @param sent start of the last attempt
     * @param answered end of stage C of the last attempt
     * @param ended moment at which the outcome was made
     * @param s duration of stage S
     * @param c duration of stage C, summed over all attempts
     * @param d duration of stage D, summed over all attempts
     * @param p duration of stage P
     */
    record StageTimes(long begun, long sent, long answered, long ended, long s, long c, long d, long p) {}
}
