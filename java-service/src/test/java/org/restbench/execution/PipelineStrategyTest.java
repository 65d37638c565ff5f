package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread a stage, requests in the order they came, and an end that answers all of them. */
@Timeout(300)
class PipelineStrategyTest {
    private final PipelineStrategy strategy = new PipelineStrategy(4);

    @AfterEach
    void close() {
        strategy.close();
    }

    @Test
    void pipeline_has_a_thread_a_stage_and_keeps_it() {
        Observed first = new Observed(4, 2, 1);
        first.under(strategy);
        assertThat(first.stages.get("parse").getName()).isEqualTo("pipe-parse");
        assertThat(first.stages.get("compute").getName()).isEqualTo("pipe-compute");
        assertThat(first.stages.get("serialize").getName()).isEqualTo("pipe-serialize");
        Observed second = new Observed(4, 2, 1);
        second.under(strategy);
        assertThat(second.stages).isEqualTo(first.stages);
    }

    @Test
    void pipeline_parses_one_request_while_it_computes_another_and_finishes_far_more_than_its_queues_hold()
            throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(40);
        try {
            Observed blocked = new Observed(1, 1, 2);
            var first = CompletableFuture.supplyAsync(() -> blocked.under(strategy), callers);
            List<Observed> others =
                    IntStream.range(0, 30).mapToObj(i -> new Observed(1, 1, 1)).toList();
            var rest = others.stream()
                    .map(it -> CompletableFuture.supplyAsync(() -> it.under(strategy), callers))
                    .toList();
            while (others.stream().noneMatch(it -> it.stages.containsKey("parse")) || blocked.pieces.isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(first).isNotDone();
            blocked.release();
            assertThat(first.get()).containsExactly(1);
            for (var answer : rest) {
                assertThat(answer.get()).containsExactly(1);
            }
        } finally {
            callers.shutdown();
        }
    }

    @Test
    void who_waits_long_before_a_full_pipeline_enters_before_who_came_later() throws Exception {
        List<String> served = Collections.synchronizedList(new ArrayList<>());
        PipelineStrategy pipeline = new PipelineStrategy(1);
        CountDownLatch open = new CountDownLatch(1);
        List<Thread> callers = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) { // three in the stages or between them, the rest before it or in its queue
                String name = "caller-" + i;
                LoopOnly request = new LoopOnly((from, to) -> {
                    awaited(open);
                    served.add(name);
                });
                Thread caller = new Thread(() -> pipeline.execute(request, new byte[0], new StageClock()), name);
                callers.add(caller);
                caller.start();
                awaitWait(caller);
                Thread.sleep(300); // so that they would have tried again at different times, if they did
            }
        } finally {
            open.countDown();
            for (Thread caller : callers) {
                caller.join();
            }
            pipeline.close();
        }
        assertThat(served.stream().distinct())
                .containsExactlyElementsOf(callers.stream().map(Thread::getName).toList());
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** Until it waits for room, or for its answer: either lasts until the pipeline goes on. */
    private static void awaitWait(Thread caller) throws InterruptedException {
        while (Arrays.stream(caller.getStackTrace())
                .noneMatch(frame -> frame.getClassName().endsWith("ConditionObject")
                        || frame.getClassName().equals(CompletableFuture.class.getName()))) {
            Thread.sleep(1);
        }
    }

    @Test
    void closing_the_pipeline_fails_every_request_in_it_or_before_it() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(20);
        PipelineStrategy pipeline = new PipelineStrategy(2);
        try {
            Observed blocked = new Observed(1, 1, 2);
            List<CompletableFuture<byte[]>> answers = new ArrayList<>();
            answers.add(CompletableFuture.supplyAsync(() -> blocked.under(pipeline), callers));
            while (blocked.pieces.isEmpty()) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < 15; i++) {
                answers.add(CompletableFuture.supplyAsync(() -> new Observed(1, 1, 1).under(pipeline), callers));
            }
            pipeline.close();
            for (CompletableFuture<byte[]> answer : answers) {
                assertThatThrownBy(answer::get).hasCauseInstanceOf(IllegalStateException.class);
            }
        } finally {
            pipeline.close();
            callers.shutdown();
        }
    }
}
