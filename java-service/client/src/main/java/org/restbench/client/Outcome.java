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

    /**
     * It failed.
     *
     * @param cause for {@code REFUSED} a {@link ServiceRefused}
     */
    record Failed<R>(long index, int attempts, StageTimes times, Stage stage, Kind kind, Throwable cause)
            implements Outcome<R> {
        /** Three digits, null unless the service refused. */
        public String errorCode() {
            return cause instanceof ServiceRefused refused ? refused.errorCode() : null;
        }
    }

    /** The batch ended before it did. */
    record Cancelled<R>(long index, int attempts, StageTimes times) implements Outcome<R> {}
}
