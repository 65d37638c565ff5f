package org.restbench.execution;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The study's PL: decode, compute and encode run on a thread each, and requests pass from one to the next through
 * bounded queues. A full queue stops the stage that fills it. The pipeline cannot deadlock: each stage waits only for
 * the next one, and the last never waits. Before the first stage, as many requests may wait as the service has
 * admitted.
 *
 * <p>Blocking workloads, which wait in compute and need no core, have many threads for compute, made when they are
 * needed: with a single thread, only one request could wait at a time.
 */
final class PipelineStrategy implements ExecutionStrategy {
    /** Requests of blocking workloads that are in compute at once. */
    private static final int BLOCKING_WIDTH = 64;

    private final Workers decoding;
    private final Workers computing;
    private final Workers encoding;
    private final Workers blocking;

    /** @param queueBound requests that may wait between two stages, at least 1 */
    PipelineStrategy(int queueBound) {
        decoding = new Workers(task -> new Thread(task, "pipe-parse"), 1, new LinkedBlockingQueue<>());
        computing = new Workers(task -> new Thread(task, "pipe-compute"), 1, new ArrayBlockingQueue<>(queueBound));
        encoding = new Workers(task -> new Thread(task, "pipe-serialize"), 1, new ArrayBlockingQueue<>(queueBound));
        blocking = new Workers(Executors.newFixedThreadPool(BLOCKING_WIDTH, Tasks.threads("pipe-wait-")));
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        Workers second = job.workload().isBlocking() ? blocking : computing;
        decoding.handOver(answer, () -> {
            I input = job.decode(Loops.IN_ORDER);
            second.handOver(answer, () -> {
                O output = job.compute(input, Loops.IN_ORDER);
                encoding.handOver(answer, () -> answer.complete(job.encode(output)));
            });
        });
        return answer;
    }

    @Override
    public void close(Deadline deadline) {
        decoding.close(deadline);
        computing.close(deadline);
        blocking.close(deadline);
        encoding.close(deadline);
    }
}
