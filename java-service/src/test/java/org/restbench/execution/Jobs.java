package org.restbench.execution;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/** Waits for what becomes of jobs. */
final class Jobs {
    private Jobs() {}

    static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    /** Waits for the answer, or throws what a stage threw. */
    static byte[] answer(CompletionStage<byte[]> stage) {
        try {
            return stage.toCompletableFuture().join();
        } catch (CompletionException failed) {
            throw Tasks.unchecked(failed.getCause());
        }
    }
}
