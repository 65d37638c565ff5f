package org.restbench.execution;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.restbench.codec.Codec;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Query;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.Workload;

/** Jobs with an empty body and plenty of memory, and what became of them. */
final class Jobs {
    private Jobs() {}

    static <I, O> Job<I, O> of(Workload<I, O> workload, Codec<I, O> codec) {
        return of(workload, codec, WorkLimits.NONE, () -> true);
    }

    static <I, O> Job<I, O> of(
            Workload<I, O> workload, Codec<I, O> codec, WorkLimits limits, BooleanSupplier isWanted) {
        return of(workload, codec, new byte[0], limits, isWanted);
    }

    static <I, O> Job<I, O> of(
            Workload<I, O> workload, Codec<I, O> codec, byte[] body, WorkLimits limits, BooleanSupplier isWanted) {
        MemoryBudget.Hold memory = new MemoryBudget(1 << 30).hold(0);
        return new Job<>(new CodedWorkload<>(workload, codec), body, Query.NONE, memory, limits, isWanted);
    }

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
