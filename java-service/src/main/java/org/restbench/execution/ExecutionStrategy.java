package org.restbench.execution;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Decides where a request's three stages run, and how their loops are cut; not what the stages do. */
public interface ExecutionStrategy {
    /**
     * Runs the stages in order. Called by many threads at once.
     *
     * @return the response's bytes. It fails with what a stage has thrown, not wrapped, or with a
     *     {@link StrategyFault}, a {@link StoppingException} or an {@link AbandonedException}. It is completed already
     *     where the caller's thread did the work, and in any case once the strategy is closed.
     */
    <I, O> CompletionStage<byte[]> execute(Job<I, O> job);

    /** Ends the threads that this strategy keeps, if any, and fails the requests that are not done by the deadline. */
    default void close(Deadline deadline) {}

    /** The moment at which waiting ends, for one or several waits. */
    record Deadline(long atNanos) {
        public static Deadline afterSeconds(int seconds) {
            return new Deadline(System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
        }

        /** Nanoseconds until the deadline, 0 where it has passed. */
        long remainingNanos() {
            return Math.max(0, atNanos - System.nanoTime());
        }
    }

    /** A strategy cannot do as its name says, and does not run the request otherwise. Clients get the message. */
    final class StrategyFault extends RuntimeException {
        StrategyFault(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** The service stops: the request was not run to its end. Another instance may answer it. */
    final class StoppingException extends RuntimeException {
        StoppingException(Throwable cause) {
            super("the service is stopping", cause, false, false);
        }
    }

    /** The client had gone before the request was run, or while it waited for threads. */
    final class AbandonedException extends RuntimeException {
        AbandonedException() {
            super("the client is gone: the request was not run", null, false, false);
        }
    }
}
