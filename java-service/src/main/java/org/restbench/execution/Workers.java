package org.restbench.execution;

import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads to which steps of requests are handed over. This is a strategy as well, which runs all stages in order on one
 * of the threads. Every answer is completed: a step that fails, even for want of memory, fails the request's answer,
 * and closing fails the answers that are still open then.
 */
final class Workers implements ExecutionStrategy {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ExecutorService threads;
    private final Set<CompletableFuture<byte[]>> promised = ConcurrentHashMap.newKeySet();

    private volatile Deadline closing;

    /** @param queue where steps wait for a thread; handing a step over blocks while the queue is full */
    Workers(ThreadFactory factory, int count, BlockingQueue<Runnable> queue) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(count, count, 0, TimeUnit.SECONDS, queue, factory, Workers::waitForRoom);
        pool.prestartAllCoreThreads();
        threads = pool;
    }

    /** @param threads an executor that takes any number of steps */
    Workers(ExecutorService threads) {
        this.threads = threads;
    }

    private static void waitForRoom(Runnable step, ThreadPoolExecutor full) {
        try {
            if (!full.isShutdown()) {
                full.getQueue().put(step);
                if (!full.isShutdown() || !full.remove(step)) { // closed meanwhile: no thread will take the step
                    return;
                }
            }
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
        throw new RejectedExecutionException();
    }

    @Override
    public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        handOver(answer, () -> answer.complete(job.run(Loops.IN_ORDER)));
        return answer;
    }

    /** Runs a step on one of the threads. It fails the answer by throwing, or sees to its completion. */
    void handOver(CompletableFuture<byte[]> answer, Runnable step) {
        promised.add(answer);
        try {
            threads.execute(new Step(answer, step));
        } catch (RejectedExecutionException closed) {
            fail(answer, new StoppingException(closed));
        } catch (Throwable exhausted) {
            fail(answer, exhausted);
        }
    }

    private final class Step implements Runnable {
        private final CompletableFuture<byte[]> answer;
        private Runnable work;

        Step(CompletableFuture<byte[]> answer, Runnable work) {
            this.answer = answer;
            this.work = work;
        }

        @Override
        public void run() {
            try {
                Runnable now = work;
                work = null; // frees the memory of a step that fails, as reporting the failure takes memory
                now.run();
                promised.remove(answer);
            } catch (Throwable thrown) {
                fail(answer, isStopping() ? new StoppingException(thrown) : thrown);
            }
        }
    }

    /** Whether the stop's deadline has passed: what interrupted steps throw then is not their fault. */
    private boolean isStopping() {
        return closing != null && closing.remainingNanos() == 0;
    }

    /** Fails an answer. Tries until it succeeds, as without memory it may take a second try. */
    private void fail(CompletableFuture<byte[]> answer, Throwable thrown) {
        while (true) {
            try {
                answer.completeExceptionally(thrown);
                promised.remove(answer);
                return;
            } catch (OutOfMemoryError still) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Lets steps finish, waiting ones included, up to the deadline; then fails the answers that are left. */
    @Override
    public void close(Deadline deadline) {
        closing = deadline;
        Tasks.end(threads, deadline);
        promised.forEach(answer -> fail(answer, new StoppingException(null)));
    }
}
