package org.restbench.client;

/** How a call ended: each input that was pulled has exactly one. */
public sealed interface Outcome<R> permits Outcome.Done, Outcome.Failed, Outcome.Cancelled {
    /** Of its input, from 0. */
    long index();

    /** How often it was sent. */
    int attempts();

    StageTimes times();

    /** It went through all stages. */
    record Done<R>(long index, int attempts, StageTimes times, R result) implements Outcome<R> {}

    /** It failed; for {@code REFUSED} the cause is a {@link ServiceRefused}. */
    record Failed<R>(long index, int attempts, StageTimes times, Stage stage, Kind kind, Throwable cause)
            implements Outcome<R> {
        /** Three digits, null unless the service refused. */
        public String errorCode() {
            return kind == Kind.REFUSED && cause instanceof ServiceRefused refused ? refused.errorCode() : null;
        }
    }

    /** The batch ended before it did. */
    record Cancelled<R>(long index, int attempts, StageTimes times) implements Outcome<R> {}

    /** What a failed call met; in C the first that fits an exception of the exchange or one of its causes. */
    enum Kind {
        /** There was no connection: {@link java.net.ConnectException}. */
        CONNECT,
        /** The time of the call passed: a {@code TimeoutException} of the JDK. */
        TIMEOUT,
        /** {@link Exchange.TooLarge}. */
        TOO_LARGE,
        /** {@link java.net.ProtocolException}. */
        NOT_HTTP,
        /** The connection was closed before the end of the answer: any other {@code IOException}, or cancelled. */
        CUT_OFF,
        /** The service answered with an error. */
        REFUSED,
        /** The answer is neither a result nor an error. */
        MALFORMED,
        /** The caller's own code threw, or a codec or exchange something undeclared. */
        USER
    }

    /**
     * When a call was where, in nanoseconds since its batch began (-1: never), and how long its stages took in
     * nanoseconds; C is the sum of its attempts.
     *
     * @param sent begin of the last attempt
     */
    record StageTimes(long begun, long sent, long answered, long ended, long s, long c, long d, long p) {}
}
