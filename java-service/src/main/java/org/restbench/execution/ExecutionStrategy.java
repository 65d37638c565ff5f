package org.restbench.execution;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Decides where a request's three stages run and how the loops in them are cut and run. Knows nothing of what they do.
 */
public interface ExecutionStrategy {
    /**
     * Runs the stages in order. Called by many threads at once.
     *
     * @return the response's bytes, or what a stage threw, as it was thrown; or a {@link StrategyFault}, a
     *     {@link StoppingException} or an {@link AbandonedException}. Done already where the caller's thread did the
     *     work; completed in any case, at the latest when the strategy is closed.
     */
    <I, O> CompletionStage<byte[]> execute(Job<I, O> job);

    /** Ends the threads this strategy keeps, if any, and fails what is not done by the deadline. */
    default void close(Deadline deadline) {}

    /** A moment until which is waited, for whatever is waited for. */
    record Deadline(long atNanos) {
        public static Deadline afterSeconds(int seconds) {
            return new Deadline(System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
        }

        /** 0 where it has passed. */
        long remainingNanos() {
            return Math.max(0, atNanos - System.nanoTime());
        }
    }

    /**
     * A strategy cannot run as its name says, and rather fails than runs otherwise. The message is fit for the client.
     */
    final class StrategyFault extends RuntimeException {
        StrategyFault(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** The service is being stopped: the request was not run, or not to its end. Another instance may answer it. */
    final class StoppingException extends RuntimeException {
        /** @param cause null where there is none */
        StoppingException(Throwable cause) {
            super("the service is stopping", cause, false, false);
        }
    }

    /** The client of a request was gone before its turn: it was not run. */
    final class AbandonedException extends RuntimeException {
        AbandonedException() {
            super("the client is gone: the request was not run", null, false, false);
        }
    }
}
