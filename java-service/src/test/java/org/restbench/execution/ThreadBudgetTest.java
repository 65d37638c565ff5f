package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.restbench.execution.ExecutionStrategy.AbandonedException;
import org.restbench.execution.ExecutionStrategy.Deadline;
import org.restbench.execution.ExecutionStrategy.StoppingException;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.ThreadPool.ThreadBudget;

/** All loops together never have more threads than they may, and all of them are run. */
class ThreadBudgetTest {
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger bodies = new AtomicInteger();
    private final LongConsumer waited = nanos -> {};
    private long pauseNanos = 1;

    private void body(int from, int to) {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        LockSupport.parkNanos(pauseNanos);
        bodies.addAndGet(to - from);
        running.decrementAndGet();
    }

    private void manyAtOnce(Loops each, int loops, int units) {
        ExecutorService requests = Executors.newFixedThreadPool(loops);
        List<CompletableFuture<Void>> all = IntStream.range(0, loops)
                .mapToObj(i -> CompletableFuture.runAsync(() -> run(each, units), requests))
                .toList();
        all.forEach(CompletableFuture::join);
        requests.shutdown();
        assertThat(bodies.get()).isEqualTo(loops * units);
    }

    private void run(Loops loops, int units) {
        try (Loops.RequestLoop loop = loops.open(waited)) {
            loop.forEach(units, 1, this::body);
        }
    }

    @Test
    void loops_of_many_requests_share_the_threads_there_are() {
        ThreadBudget budget = new ThreadBudget(150);
        pauseNanos = 50_000_000; // long enough that without a limit all would run at once
        manyAtOnce(new ThreadPool(budget), 8, 60);
        assertThat(most.get()).isBetween(1, 150);
        assertThat(budget.take(200, waited)).as("all are back").isEqualTo(150);
    }

    @Test
    void who_waits_for_many_threads_is_not_overtaken_by_who_wants_few() throws Exception {
        ThreadBudget budget = new ThreadBudget(10);
        List<String> served = new CopyOnWriteArrayList<>();
        budget.take(1, waited);
        Thread wantsAll = waiting(() -> {
            budget.take(10, waited);
            served.add("all");
        });
        Thread wantsOne = waiting(() -> {
            budget.take(1, waited);
            served.add("one");
        });
        budget.giveBack(1);
        wantsAll.join(60_000);
        assertThat(served).containsExactly("all");
        budget.giveBack(10);
        wantsOne.join(60_000);
        assertThat(served).containsExactly("all", "one");
    }

    private static Thread waiting(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work);
        thread.start();
        // not the thread's state: it may wait for a class to be loaded before it has asked the budget
        while (thread.isAlive() && !(LockSupport.getBlocker(thread) instanceof AbstractQueuedSynchronizer)) {
            Thread.sleep(1);
        }
        return thread;
    }

    @Test
    void a_loop_of_very_many_units_has_no_more_tasks_at_once_than_it_may() {
        ExecutorService counting = Executors.newCachedThreadPool();
        try {
            Tasks.runAll(counting, 7, 1000, 3, this::body);
            assertThat(bodies.get()).isEqualTo(1000);
            assertThat(most.get()).isLessThanOrEqualTo(7);
        } finally {
            counting.shutdown();
        }
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads need Java 21");
        VirtualThreads virtual =
                VirtualThreads.ifAvailable(new ThreadBudget(5000)).orElseThrow();
        run(virtual, 100_000);
        assertThat(bodies.get()).isEqualTo(101_000);
        assertThat(most.get()).isLessThanOrEqualTo(Tasks.MOST_AT_ONCE);
        virtual.close(Deadline.afterSeconds(5));
    }

    private static List<Loops> sharing(ThreadBudget budget) {
        return Stream.<Loops>concat(Stream.of(new ThreadPool(budget)), VirtualThreads.ifAvailable(budget).stream())
                .toList();
    }

    @Test
    void a_request_whose_client_leaves_while_its_loop_waits_is_not_run() throws InterruptedException {
        ThreadBudget budget = new ThreadBudget(1);
        for (Loops loops : sharing(budget)) {
            budget.take(1, waited);
            AtomicBoolean isWanted = new AtomicBoolean(true);
            Observed observed = new Observed(1, 1, 1);
            CompletableFuture<byte[]> answer = new CompletableFuture<>();
            Job<String, String> job = observed.job(WorkLimits.NONE, isWanted::get);
            waiting(() -> loops.execute(job).whenComplete((bytes, failure) -> answer.completeExceptionally(failure)));
            isWanted.set(false);
            budget.giveBack(1);
            assertThat(answer)
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableThat()
                    .withCauseInstanceOf(AbandonedException.class);
            assertThat(observed.pieces).isEmpty();
            assertThat(budget.free().availablePermits()).isEqualTo(1);
            loops.close(Deadline.afterSeconds(5));
        }
    }

    @Test
    void the_wait_of_a_loop_is_no_compute() throws InterruptedException {
        ThreadBudget budget = new ThreadBudget(1);
        for (Loops loops : sharing(budget)) {
            budget.take(1, waited);
            Observed observed = new Observed(1, 1, 1);
            Job<String, String> job = observed.job();
            long begunNanos = System.nanoTime();
            Thread request = waiting(() -> loops.execute(job));
            long heldNanos = System.nanoTime();
            Thread.sleep(200);
            heldNanos = System.nanoTime() - heldNanos;
            budget.giveBack(1);
            request.join(60_000);
            assertThat(job.clock().computeNanos()).isPositive().isLessThan(System.nanoTime() - begunNanos - heldNanos);
            loops.close(Deadline.afterSeconds(5));
        }
    }

    @Test
    void an_interrupted_wait_ends_and_takes_nothing() {
        ThreadBudget budget = new ThreadBudget(1);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> budget.take(1, waited)).isInstanceOf(StoppingException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(budget.take(1, waited)).isEqualTo(1);
    }
}
