package org.restbench.execution;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The study's PL: parse, compute and serialize each on a thread of its own, requests flowing from one to the next
 * through bounded queues. A full queue stops whoever fills it, back to the request's thread. It cannot deadlock: each
 * thread waits only for the one behind it, and the last waits for nobody.
 */
final class PipelineStrategy implements ExecutionStrategy {
    private static final Logger LOG = LoggerFactory.getLogger(PipelineStrategy.class);

    private final ParallelLoop inOrder = new InOrderLoop();
    private final List<BlockingQueue<PipelineJob<?, ?>>> queues;
    private final List<Thread> threads;
    private final AtomicInteger entering = new AtomicInteger();
    private volatile boolean closed;

    /** @param queueBound requests that may wait before each stage, at least 1 */
    PipelineStrategy(int queueBound) {
        // fair: among requests that wait to enter, the first to come is the first to go in
        BlockingQueue<PipelineJob<?, ?>> toParse = new ArrayBlockingQueue<>(queueBound, true);
        BlockingQueue<PipelineJob<?, ?>> toCompute = new ArrayBlockingQueue<>(queueBound);
        BlockingQueue<PipelineJob<?, ?>> toSerialize = new ArrayBlockingQueue<>(queueBound);
        queues = List.of(toParse, toCompute, toSerialize);
        threads = List.of(
                stage("pipe-parse", toParse, PipelineJob::parse, toCompute),
                stage("pipe-compute", toCompute, job -> job.compute(inOrder), toSerialize),
                stage("pipe-serialize", toSerialize, PipelineJob::serialize, null));
        threads.forEach(Thread::start);
    }

    Thread stage(
            String name,
            BlockingQueue<PipelineJob<?, ?>> in,
            Consumer<PipelineJob<?, ?>> step,
            BlockingQueue<PipelineJob<?, ?>> out) {
        return new Thread(
                () -> {
                    while (!closed) { // a workload may have swallowed the interrupt of close()
                        try {
                            pass(in.take(), step, out);
                        } catch (InterruptedException ended) {
                            return; // close() interrupts, and then answers what is left in the queues
                        } catch (Error exhausted) {
                            // without this thread every request of the strategy would wait for ever
                            tell(name, exhausted);
                        }
                    }
                },
                name);
    }

    private static void tell(String name, Error exhausted) {
        try {
            LOG.error("{} goes on with the next request", name, exhausted);
        } catch (Error still) {
            // no memory to tell it: the request has failed with it, and the thread matters more
        }
    }

    static void pass(PipelineJob<?, ?> job, Consumer<PipelineJob<?, ?>> step, BlockingQueue<PipelineJob<?, ?>> out)
            throws InterruptedException {
        if (!job.advance(step) || out == null) {
            return;
        }
        try {
            out.put(job);
        } catch (InterruptedException ended) {
            job.abandon();
            throw ended;
        } catch (Error exhausted) {
            job.fail(exhausted);
            throw exhausted;
        }
    }

    @Override
    public <I, O> byte[] execute(Workload<I, O> workload, byte[] body, StageClock clock) {
        PipelineJob<I, O> job = new PipelineJob<>(workload, body, clock);
        entering.incrementAndGet();
        try {
            if (!closed) {
                queues.get(0).put(job); // without a limit in time: who tried again would lose its place in the row
            }
        } catch (InterruptedException interrupted) {
            throw Tasks.interrupted(interrupted);
        } finally {
            entering.decrementAndGet();
        }
        if (closed) { // read after the job is in the queue: either close() finds it there or it is given up here
            job.abandon();
        }
        return job.response();
    }

    /** Ends the three threads, or leaves one that is deep in a stage to the end of the process; its request fails. */
    @Override
    public void close() {
        closed = true;
        threads.forEach(Thread::interrupt);
        try {
            for (Thread thread : threads) {
                thread.join(TimeUnit.SECONDS.toMillis(Tasks.STOP_SECONDS));
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        admitWaiting();
        queues.forEach(queue -> queue.forEach(PipelineJob::abandon));
    }

    /** Whoever waits to enter gets room, and sees then that there is nobody any more. */
    private void admitWaiting() {
        while (entering.get() > 0) {
            PipelineJob<?, ?> job = queues.get(0).poll();
            if (job == null) {
                Thread.onSpinWait();
            } else {
                job.abandon();
            }
        }
    }
}
