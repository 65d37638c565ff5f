package org.restbench.client;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

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

    /** Why a call failed. {@link #of} derives the kind of a failure in C from the exception. */
    enum Kind {
        /** No connection could be made: {@link ConnectException}. */
        CONNECT(ConnectException.class),
        /** The time of the call passed: one of the JDK's timeout exceptions. */
        TIMEOUT(TimeoutException.class, HttpTimeoutException.class, SocketTimeoutException.class),
        /** The answer is larger than the limit: {@link Exchange.TooLarge}. */
        TOO_LARGE(Exchange.TooLarge.class),
        /** The answer is not valid HTTP: {@link ProtocolException}. */
        NOT_HTTP(ProtocolException.class),
        /** The connection was closed early: any other {@code IOException}, or a {@code CancellationException}. */
        CUT_OFF(IOException.class, CancellationException.class),
        /** The service answered with an error: {@link ServiceRefused}. */
        REFUSED,
        /** The answer is neither a result nor an error: {@link MalformedAnswer}. */
        MALFORMED,
        /** The caller's own code threw an exception, or a codec or an exchange threw an undeclared one. */
        USER;

        private final List<Class<?>> types;

        Kind(Class<?>... types) {
            this.types = List.of(types);
        }

        /** The first kind with a type that the exchange's exception or one of its causes has; else {@code USER}. */
        public static Kind of(Throwable failure) {
            List<Throwable> causes = Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                    .limit(64) // a chain of causes may be circular
                    .toList();
            return Stream.of(values())
                    .filter(kind ->
                            kind.types.stream().anyMatch(type -> causes.stream().anyMatch(type::isInstance)))
                    .findFirst()
                    .orElse(USER);
        }
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
