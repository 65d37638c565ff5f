package org.restbench.execution;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/**
 * The study's PL: parse, compute and serialize each on a thread of its own, requests flowing from one to the next
 * through bounded queues. A full queue stops whoever fills it, back to the request's thread. It cannot deadlock: each
 * thread waits only for the one behind it, and the last waits for nobody.
 */
final class PipelineStrategy implements ExecutionStrategy {
    private final ParallelLoop inOrder = new InOrderLoop();
    private final BlockingQueue<PipelineJob<?, ?>> toParse;
    private final List<Thread> threads;

    /** @param queueBound requests that may wait before each stage, at least 1 */
    PipelineStrategy(int queueBound) {
        // fair: among requests that wait to enter, the first to come is the first to go in
        toParse = new ArrayBlockingQueue<>(queueBound, true);
        BlockingQueue<PipelineJob<?, ?>> toCompute = new ArrayBlockingQueue<>(queueBound);
        BlockingQueue<PipelineJob<?, ?>> toSerialize = new ArrayBlockingQueue<>(queueBound);
        threads = List.of(
                stage("pipe-parse", toParse, PipelineJob::parse, toCompute),
                stage("pipe-compute", toCompute, job -> job.compute(inOrder), toSerialize),
                stage("pipe-serialize", toSerialize, PipelineJob::serialize, null));
        threads.forEach(Thread::start);
    }

    private static Thread stage(
            String name,
            BlockingQueue<PipelineJob<?, ?>> in,
            Consumer<PipelineJob<?, ?>> step,
            BlockingQueue<PipelineJob<?, ?>> out) {
        return new Thread(
                () -> {
                    try {
                        while (true) {
                            PipelineJob<?, ?> job = in.take();
                            if (job.advance(step) && out != null) {
                                out.put(job);
                            }
                        }
                    } catch (InterruptedException closed) {
                        in.forEach(PipelineJob::abandon);
                    }
                },
                name);
    }

    @Override
    public <I, O> byte[] execute(Workload<I, O> workload, byte[] body, StageClock clock) {
        PipelineJob<I, O> job = new PipelineJob<>(workload, body, clock);
        try {
            toParse.put(job);
        } catch (InterruptedException interrupted) {
            throw Tasks.interrupted(interrupted);
        }
        return job.response();
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
    }
}
