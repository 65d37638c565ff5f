package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.restbench.execution.ExecutionStrategy.AbandonedException;
import org.restbench.execution.ExecutionStrategy.Deadline;
import org.restbench.execution.ExecutionStrategy.StoppingException;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies.Technique;
import org.restbench.workload.ParallelLoop;

/** Every answer is given: whatever runs out, and whoever is closed. */
class WorkersTest {
    private static final OutOfMemoryError NO_MEMORY = new OutOfMemoryError("not really");

    private final Workers workers = new Workers(Tasks.threads("test-"), 2, new LinkedBlockingQueue<>());

    private void end() {
        workers.close(Deadline.afterSeconds(5));
    }

    @Test
    void a_failure_is_told_though_there_was_no_memory_to_tell_it_at_first() {
        int[] tries = {0};
        CompletableFuture<byte[]> answer = new CompletableFuture<>() {
            @Override
            public boolean completeExceptionally(Throwable thrown) {
                if (tries[0]++ < 2) {
                    throw NO_MEMORY;
                }
                return super.completeExceptionally(thrown);
            }
        };
        IllegalCallerException failure = new IllegalCallerException();
        workers.handOver(answer, () -> {
            throw failure;
        });
        assertThatThrownBy(answer::join).hasCause(failure);
        assertThat(tries[0]).isEqualTo(3);
        end();
    }

    @Test
    void a_step_that_cannot_be_handed_over_for_want_of_memory_fails_its_answer() {
        Workers full = new Workers(Tasks.threads("test-"), 1, new LinkedBlockingQueue<>() {
            private static final long serialVersionUID = 1;

            @Override
            public boolean offer(Runnable step) {
                throw NO_MEMORY;
            }
        });
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        full.handOver(answer, () -> {});
        assertThatThrownBy(answer::join).hasCause(NO_MEMORY);
        full.close(Deadline.afterSeconds(5));
    }

    @Test
    void closing_lets_steps_finish_and_fails_those_that_come_later() {
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            CompletableFuture<byte[]> answer = new CompletableFuture<>();
            answers.add(answer);
            workers.handOver(answer, () -> answer.complete(new byte[1]));
        }
        end();
        assertThat(answers).allMatch(answer -> answer.join().length == 1);
        CompletableFuture<byte[]> late = new CompletableFuture<>();
        workers.handOver(late, () -> late.complete(new byte[1]));
        assertThatThrownBy(late::join).hasCauseInstanceOf(StoppingException.class);
    }

    @Test
    void all_strategies_close_within_one_deadline_though_every_worker_is_stuck_and_all_answers_are_given() {
        int cores = 8;
        Strategies strategies = StrategiesOf.cores(cores);
        List<Observed> stuck = new ArrayList<>();
        List<CompletionStage<byte[]>> answers = new ArrayList<>();
        for (Technique technique : strategies.all()) {
            boolean hasWorkers = List.of("pinned", "pipeline", "adaptive").contains(technique.name());
            boolean hasPool = List.of("shared-pool", "fork-join").contains(technique.name());
            for (int i = 0; i < (hasWorkers || hasPool ? 3 * cores : 0); i++) {
                Observed each = hasWorkers ? new Stuck() : new Observed(100, 1, 1000, Stuck.LONG);
                stuck.add(each);
                answers.add(onThread(each, technique.strategy()));
            }
        }
        while (stuck.stream().filter(it -> !it.stages.isEmpty()).count() < 3 * cores) {
            Thread.onSpinWait();
        }
        long start = System.nanoTime();
        strategies.close();
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertThat(seconds).as("a deadline for all, not one for each thread").isLessThan(5 * 3);
        for (int i = 0; i < answers.size(); i++) {
            if (!stuck.get(i).stages.containsKey("caller") && stuck.get(i) instanceof Stuck) {
                assertThat(thrown(answers.get(i))).hasCauseInstanceOf(StoppingException.class);
            }
        }
        stuck.forEach(Observed::release); // a caller gets its answer when its work has ended, and no later
        answers.forEach(WorkersTest::thrown);
    }

    private static Throwable thrown(CompletionStage<byte[]> answer) {
        return answer.handle((bytes, thrown) -> thrown).toCompletableFuture().join();
    }

    /** Computing takes until it is released, whoever interrupts it. */
    private static final class Stuck extends Observed {
        private static final long LONG = 1_000_000_000_000L;
        private final CountDownLatch released = new CountDownLatch(1);

        Stuck() {
            super(1, 1, 1, LONG);
        }

        @Override
        public String compute(String input, ParallelLoop loop) {
            stages.put(
                    Thread.currentThread().getName().equals("caller") ? "caller" : "compute", Thread.currentThread());
            while (released.getCount() > 0) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
            }
            return "output";
        }

        @Override
        void release() {
            super.release();
            released.countDown();
        }
    }

    /** As the caller of it would wait. */
    private static CompletionStage<byte[]> onThread(Observed observed, ExecutionStrategy strategy) {
        Executor caller = task -> {
            Thread thread = new Thread(task, "caller");
            thread.setDaemon(true);
            thread.start();
        };
        return CompletableFuture.supplyAsync(() -> observed.start(strategy), caller)
                .thenCompose(answer -> answer);
    }

    @Test
    void a_request_whose_client_is_gone_before_its_turn_is_not_run() {
        try (Strategies strategies = StrategiesOf.cores(2)) {
            for (Technique technique : strategies.all()) {
                Observed gone = new Observed(1, 1, 1);
                CompletionStage<byte[]> answer = technique.strategy().execute(gone.job(WorkLimits.NONE, () -> false));
                assertThatThrownBy(() -> Jobs.answer(answer)).isInstanceOf(AbandonedException.class);
                assertThat(gone.stages).as(technique.name()).isEmpty();
            }
        }
    }

    @Test
    void pinned_parks_no_caller() {
        try (Strategies strategies = StrategiesOf.cores(2)) {
            ExecutionStrategy pinned = StrategiesOf.named("pinned", strategies);
            Observed first = new Observed(1, 1, 2);
            Observed second = new Observed(1, 1, 1);
            CompletionStage<byte[]> one = first.start(pinned);
            CompletionStage<byte[]> two = second.start(pinned);
            assertThat(one.toCompletableFuture()).isNotDone();
            assertThat(two.toCompletableFuture()).isNotDone();
            first.release();
            assertThat(Jobs.answer(two)).containsExactly(1);
            assertThat(Jobs.answer(one)).containsExactly(1);
        }
    }
}
