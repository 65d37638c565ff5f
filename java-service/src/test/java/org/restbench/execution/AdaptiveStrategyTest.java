package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The strategy that chooses does what it chose, and chooses by what work costs. */
class AdaptiveStrategyTest extends AdaptiveUnderTest {
    @Test
    void small_work_is_done_in_order_by_the_callers_thread() {
        Observed small = new Observed(12, 1, 1, SMALL);
        small.under(adaptive);
        assertThat(Set.copyOf(small.stages.values())).containsExactly(Thread.currentThread());
        assertThat(small.pieces).containsExactly(new Observed.Piece(Thread.currentThread(), 0, 12));
        assertThat(adaptive.decided(Decision.CALLER)).isEqualTo(1);
        assertThat(adaptive.decided(Decision.BLOCKS)).isZero();
    }

    @Test
    void larger_work_stays_with_its_caller_and_idle_cores_help_with_its_loop() {
        Observed larger = new Observed(100, 1, 3, WORTH_HELP);
        larger.under(adaptive);
        assertThat(Set.copyOf(larger.stages.values())).containsExactly(Thread.currentThread());
        assertThat(larger.threadNames())
                .containsExactlyInAnyOrder(Thread.currentThread().getName(), "adapt-help-1", "adapt-help-2");
        assertThat(larger.peak).hasValue(3);
        assertThat(adaptive.decided(Decision.CALLER)).isEqualTo(1);
        assertThat(adaptive.decided(Decision.BLOCKS)).isEqualTo(1);
    }

    @Test
    void what_is_almost_long_stays_with_its_caller() {
        Observed almost = new Observed(100, 1, 1, NOT_LONG);
        adaptive.execute(almost, new byte[LONG_BODY_BYTES - 1], new StageClock());
        assertThat(Set.copyOf(almost.stages.values())).containsExactly(Thread.currentThread());
    }

    @Test
    void larger_work_runs_in_order_where_every_core_has_a_caller() throws Exception {
        List<Observed> busy = List.of(new Observed(1, 1, 2, SMALL), new Observed(1, 1, 2, SMALL));
        List<CompletableFuture<byte[]>> answers = busy.stream().map(this::start).toList();
        await(() -> busy.stream().noneMatch(it -> it.pieces.isEmpty()));
        Observed larger = new Observed(100, 1, 1, WORTH_HELP);
        larger.under(adaptive);
        assertThat(larger.pieces).containsExactly(new Observed.Piece(Thread.currentThread(), 0, 100));
        busy.forEach(Observed::release);
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).containsExactly(1);
        }
    }

    @Test
    void two_callers_more_than_cores_compute_at_once_and_the_others_in_the_order_they_came() throws Exception {
        List<Observed> all = new ArrayList<>();
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            Observed next = new Observed(1, 1, 2, i % 2 == 0 ? WORTH_A_TURN : SMALL);
            byte[] body = new byte[i % 2 == 0 ? 0 : BODY_WORTH_A_TURN_BYTES];
            all.add(next);
            answers.add(CompletableFuture.supplyAsync(() -> adaptive.execute(next, body, new StageClock()), callers));
            int before = Math.max(0, i - 4);
            await(() -> adaptive.waiting() == before && (before > 0 || !next.pieces.isEmpty()));
        }
        assertThat(all.get(7).stages).containsOnlyKeys("parse");
        assertThat(new Observed(12, 1, 1, SMALL).under(adaptive))
                .as("small ones need no turn")
                .containsExactly(1);
        for (int i = 0; i < 9; i++) {
            for (int later = i + 5; later < 9; later++) {
                assertThat(all.get(later).stages).doesNotContainKey("compute");
            }
            all.get(i).release();
            assertThat(answers.get(i).get()).containsExactly(1);
            int last = Math.min(8, i + 5);
            await(() -> !all.get(last).pieces.isEmpty());
        }
        assertThat(adaptive.decided(Decision.CALLER)).isEqualTo(10);
    }

    @Test
    void a_turn_is_given_back_whatever_the_work_throws() {
        ArithmeticException thrown = new ArithmeticException("x");
        LoopOnly failing = new LoopOnly((from, to) -> {
            throw thrown;
        });
        for (int i = 0; i < 5; i++) {
            byte[] body = new byte[BODY_WORTH_A_TURN_BYTES];
            assertThatThrownBy(() -> adaptive.execute(failing, body, new StageClock()))
                    .isSameAs(thrown);
        }
        assertThat(new Observed(100, 1, 3, WORTH_A_TURN).under(adaptive)).containsExactly(1);
    }

    @Test
    void an_interrupted_wait_for_a_turn_ends_and_leaves_the_turns_as_they_were() throws Exception {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> new Observed(1, 1, 1, WORTH_A_TURN).under(adaptive))
                .isInstanceOf(IllegalStateException.class);
        assertThat(Thread.interrupted()).isTrue();
        List<Observed> together = List.of(
                new Observed(1, 1, 2, WORTH_A_TURN),
                new Observed(1, 1, 2, WORTH_A_TURN),
                new Observed(1, 1, 2, WORTH_A_TURN));
        List<CompletableFuture<byte[]>> answers =
                together.stream().map(this::start).toList();
        await(() -> together.stream().noneMatch(it -> it.pieces.isEmpty()));
        together.forEach(Observed::release);
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).containsExactly(1);
        }
        assertThat(new Observed(100, 1, 3, WORTH_HELP).under(adaptive)).containsExactly(1);
    }

    @Test
    void on_one_core_nothing_is_cut_and_long_work_still_gives_way() {
        try (AdaptiveStrategy narrow = onCores(1)) {
            Observed larger = new Observed(100, 1, 1, WORTH_HELP);
            larger.under(narrow);
            assertThat(larger.pieces).containsExactly(new Observed.Piece(Thread.currentThread(), 0, 100));
            Observed longer = new Observed(100, 1, 1, LONG);
            longer.under(narrow);
            assertThat(longer.threadNames()).containsExactly("adapt-long-1");
            assertThat(longer.pieces).hasSize(1);
        }
    }
}
