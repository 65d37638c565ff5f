package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Long work under the strategy that chooses, where there are more requests than cores: on threads of its own, in turn,
 * and in nobody's way.
 */
class AdaptiveLongWorkTest extends AdaptiveUnderTest {
    @BeforeEach
    void crowdFirst() throws Exception {
        crowd();
    }

    @Test
    void long_work_leaves_its_caller_and_the_idle_among_its_threads_help() {
        Observed longer = new Observed(100, 1, 3, LONG);
        longer.under(adaptive);
        assertThat(longer.stages.get("parse")).isSameAs(Thread.currentThread());
        assertThat(longer.stages.get("compute").getName()).startsWith("adapt-long-");
        assertThat(longer.stages.get("serialize")).isSameAs(longer.stages.get("compute"));
        assertThat(longer.threadNames()).containsExactly("adapt-long-1", "adapt-long-2", "adapt-long-3");
        assertThat(adaptive.decided(Decision.LOW_PRIORITY_THREAD)).isEqualTo(1);
        assertThat(adaptive.decided(Decision.BLOCKS)).isEqualTo(1);
        assertThat(adaptive.decided(Decision.CALLER)).as("those of the crowd").isEqualTo(CORES + 1);
    }

    @Test
    void the_loop_of_long_work_is_not_cut_where_all_its_threads_have_work_of_their_own() throws Exception {
        List<Observed> busy = List.of(new Observed(1, 1, 2, LONG), new Observed(1, 1, 2, LONG));
        List<CompletableFuture<byte[]>> answers = busy.stream().map(this::start).toList();
        await(() -> busy.stream().noneMatch(it -> it.pieces.isEmpty()));
        Observed longer = new Observed(100, 1, 1, LONG);
        longer.under(adaptive);
        assertThat(longer.pieces).hasSize(1);
        busy.forEach(Observed::release);
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).containsExactly(1);
        }
        assertThat(adaptive.decided(Decision.BLOCKS)).isZero();
    }

    @Test
    void a_long_body_is_parsed_by_the_thread_that_computes() {
        Observed longer = new Observed(1, 1, 1, 1);
        adaptive.execute(longer, new byte[LONG_BODY_BYTES], new StageClock());
        assertThat(longer.stages.get("parse").getName()).startsWith("adapt-long-");
        assertThat(longer.stages.get("parse")).isSameAs(longer.stages.get("serialize"));
    }

    @Test
    void threads_of_long_work_give_way_to_others_and_its_callers_do_not() {
        int before = NiceValue.ofCurrentThread();
        List<Integer> nice = Collections.synchronizedList(new ArrayList<>());
        LoopOnly longer = new LoopOnly((from, to) -> nice.add(NiceValue.ofCurrentThread()));
        adaptive.execute(longer, new byte[LONG_BODY_BYTES], new StageClock());
        assertThat(nice).isNotEmpty().containsOnly(Math.max(5, before));
        assertThat(NiceValue.ofCurrentThread()).isEqualTo(before);
    }

    @Test
    void no_more_long_ones_run_at_once_than_cores_and_they_begin_in_the_order_they_came() throws Exception {
        List<Observed> all = new ArrayList<>();
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            Observed next = new Observed(1, 1, 2, LONG);
            all.add(next);
            answers.add(start(next));
            int before = Math.max(0, i - 2);
            await(() -> adaptive.waiting() == before && (before > 0 || !next.pieces.isEmpty()));
        }
        for (int i = 0; i < 9; i++) {
            for (int later = i + 3; later < 9; later++) {
                assertThat(all.get(later).stages).doesNotContainKey("compute");
            }
            all.get(i).release();
            assertThat(answers.get(i).get()).containsExactly(1);
            int last = Math.min(8, i + 3);
            await(() -> !all.get(last).pieces.isEmpty());
        }
    }

    @Test
    void small_work_is_done_while_all_threads_of_long_work_are_taken_and_more_of_it_waits() throws Exception {
        List<Observed> blocked = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            blocked.add(new Observed(1, 1, 2, LONG));
        }
        List<CompletableFuture<byte[]>> answers =
                blocked.stream().map(this::start).toList();
        await(() -> adaptive.waiting() == 5
                && blocked.stream().filter(it -> !it.pieces.isEmpty()).count() == 3);
        laterOn();
        assertThat(new Observed(12, 1, 1, SMALL).under(adaptive)).containsExactly(1);
        assertThat(new Observed(100, 1, 3, WORTH_HELP).under(adaptive)).containsExactly(1);
        blocked.forEach(Observed::release);
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).containsExactly(1);
        }
    }

    @Test
    void a_thread_of_long_work_outlives_an_error_and_the_caller_is_told() {
        for (Error error : List.of(new OutOfMemoryError("not really"), new NoClassDefFoundError("x"))) {
            LoopOnly failing = new LoopOnly((from, to) -> {
                throw error;
            });
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> adaptive.execute(failing, new byte[LONG_BODY_BYTES], new StageClock()))
                        .isSameAs(error);
            }
        }
        assertThat(new Observed(100, 1, 3, LONG).under(adaptive)).containsExactly(1);
    }

    @Test
    void closing_ends_its_threads_and_fails_what_waits() throws Exception {
        List<Observed> blocked = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            blocked.add(new Observed(1, 1, 2, LONG));
        }
        List<CompletableFuture<byte[]>> answers =
                blocked.stream().map(this::start).toList();
        await(() -> adaptive.waiting() == 2
                && blocked.stream().filter(it -> !it.pieces.isEmpty()).count() == 3);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(adaptive::close, callers);
        await(() -> answers.stream()
                        .filter(CompletableFuture::isCompletedExceptionally)
                        .count()
                == 2);
        blocked.forEach(Observed::release);
        closing.get();
        assertThat(answers.stream().filter(it -> !it.isCompletedExceptionally()))
                .hasSize(3);
        assertThatThrownBy(() -> new Observed(1, 1, 1, LONG).under(adaptive)).hasMessageContaining("stopped");
        for (Observed observed : blocked) {
            Thread worker = observed.stages.get("compute");
            if (worker != null) {
                worker.join(20_000);
                assertThat(worker.isAlive()).isFalse();
            }
        }
    }
}
