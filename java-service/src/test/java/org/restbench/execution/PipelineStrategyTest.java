package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.execution.Jobs.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.restbench.execution.ExecutionStrategy.Deadline;
import org.restbench.execution.ExecutionStrategy.StoppingException;

/** One thread a stage, bounded queues between, requests in the order they came, and a caller that waits for nothing. */
class PipelineStrategyTest {
    private static final int QUEUE = 2;

    private final PipelineStrategy strategy = new PipelineStrategy(QUEUE);

    @AfterEach
    void close() {
        strategy.close(Deadline.afterSeconds(5));
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
    void a_slow_stage_stops_the_one_before_it_and_not_the_caller() {
        Observed blocked = new Observed(1, 1, 2);
        CompletionStage<byte[]> first = blocked.start(strategy);
        await(() -> !blocked.pieces.isEmpty());
        List<Observed> others =
                IntStream.range(0, 30).mapToObj(i -> new Observed(1, 1, 1)).toList();
        List<CompletionStage<byte[]>> rest =
                others.stream().map(it -> it.start(strategy)).toList(); // returns: the caller does not wait
        int between = QUEUE + 1; // in the queue, and one that its decoding thread holds
        await(() -> others.get(between - 1).stages.containsKey("parse"));
        assertThat(others.subList(between, 30)).allMatch(it -> it.stages.isEmpty());
        assertThat(first.toCompletableFuture()).isNotDone();
        blocked.release();
        assertThat(Jobs.answer(first)).containsExactly(1);
        rest.forEach(answer -> assertThat(Jobs.answer(answer)).containsExactly(1));
    }

    @Test
    void requests_are_served_in_the_order_they_came() {
        List<Integer> served = new ArrayList<>();
        List<CompletionStage<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            int number = i;
            answers.add(Observed.doing((from, to) -> served.add(number)).start(strategy)); // by one thread
        }
        answers.forEach(Jobs::answer);
        assertThat(served)
                .containsExactlyElementsOf(IntStream.range(0, 50).boxed().toList());
    }

    @Test
    void requests_that_wait_in_compute_wait_together() {
        List<Observed> waiting =
                IntStream.range(0, 20).mapToObj(i -> Observed.blocking(2)).toList();
        List<CompletionStage<byte[]>> answers =
                waiting.stream().map(it -> it.start(strategy)).toList();
        await(() -> waiting.stream().noneMatch(it -> it.pieces.isEmpty()));
        assertThat(new Observed(4, 2, 1).under(strategy)).as("work beside them").containsExactly(1);
        waiting.forEach(Observed::release);
        answers.forEach(answer -> assertThat(Jobs.answer(answer)).containsExactly(1));
    }

    @Test
    void closing_the_pipeline_fails_every_request_in_it_or_before_it() {
        Observed blocked = new Observed(1, 1, 2);
        List<CompletionStage<byte[]>> answers = new ArrayList<>();
        answers.add(blocked.start(strategy));
        await(() -> !blocked.pieces.isEmpty());
        for (int i = 0; i < 15; i++) {
            answers.add(new Observed(1, 1, 1).start(strategy));
        }
        strategy.close(new Deadline(System.nanoTime()));
        answers.add(new Observed(1, 1, 1).start(strategy));
        for (CompletionStage<byte[]> answer : answers) {
            assertThatThrownBy(() -> Jobs.answer(answer)).isInstanceOf(StoppingException.class);
        }
    }
}
