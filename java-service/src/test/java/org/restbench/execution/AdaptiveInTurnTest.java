package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The strategy that chooses where more requests are there than cores: what is not small is done in turn. */
class AdaptiveInTurnTest extends AdaptiveUnderTest {
    private final List<Observed> all = new ArrayList<>();
    private final List<CompletableFuture<byte[]>> answers = new ArrayList<>();

    /** One request more, at work until it is released: every other one is known by its body to be worth a turn. */
    private Observed oneMore() {
        boolean byBody = all.size() % 2 == 1;
        Observed next = new Observed(1, 1, 2, byBody ? SMALL : WORTH_A_TURN);
        byte[] body = new byte[byBody ? BODY_WORTH_A_TURN_BYTES : 0];
        int waiting = Math.max(0, all.size() + 1 - 2 * CORES);
        all.add(next);
        answers.add(CompletableFuture.supplyAsync(() -> adaptive.execute(next, body, new StageClock()), callers));
        await(() -> adaptive.waiting() == waiting && (waiting > 0 || !next.pieces.isEmpty()));
        return next;
    }

    private void aRequestOnEachCore() {
        for (int i = 0; i < CORES; i++) {
            oneMore();
        }
    }

    private void releaseAll() throws Exception {
        all.forEach(Observed::release);
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).containsExactly(1);
        }
    }

    @Test
    void more_than_cores_are_done_by_a_thread_a_core_in_the_order_they_came() throws Exception {
        for (int i = 0; i < 3 * CORES; i++) {
            oneMore();
        }
        for (Observed atOnce : all.subList(0, CORES)) {
            assertThat(atOnce.stages.get("compute").getName()).doesNotStartWith("adapt-");
        }
        for (Observed inTurn : all.subList(CORES, 2 * CORES)) {
            assertThat(inTurn.stages.get("compute").getName()).startsWith("adapt-turn-");
            assertThat(inTurn.stages.get("serialize")).isNull();
        }
        assertThat(all.get(7).stages)
                .as("by its body it waits before it is parsed")
                .isEmpty();
        assertThat(all.get(8).stages).as("by its operations afterwards").containsOnlyKeys("parse");
        assertThat(new Observed(12, 1, 1, SMALL).under(adaptive))
                .as("a small one does not wait")
                .containsExactly(1);
        for (int i = 0; i < CORES; i++) {
            Observed next = all.get(2 * CORES + i);
            assertThat(next.pieces).isEmpty();
            all.get(CORES + i).release();
            await(() -> !next.pieces.isEmpty());
            assertThat(next.stages.get("compute"))
                    .isSameAs(all.get(CORES + i).stages.get("compute"));
        }
        releaseAll();
        assertThat(adaptive.decided(Decision.CALLER)).isEqualTo(CORES + 1);
        assertThat(adaptive.decided(Decision.IN_TURN)).isEqualTo(2 * CORES);
        assertThat(all.get(3).stages.get("parse")).isSameAs(all.get(3).stages.get("serialize"));
    }

    @Test
    void what_is_not_worth_a_turn_does_not_wait() throws Exception {
        aRequestOnEachCore();
        Observed larger = new Observed(100, 1, 1, SMALL);
        larger.under(adaptive);
        assertThat(larger.pieces).containsExactly(new Observed.Piece(Thread.currentThread(), 0, 100));
        releaseAll();
    }

    @Test
    void what_turns_out_to_be_long_when_its_turn_has_come_goes_on_with_the_long_ones() throws Exception {
        aRequestOnEachCore();
        Observed longer = new Observed(1, 1, 1, LONG);
        adaptive.execute(longer, new byte[BODY_WORTH_A_TURN_BYTES], new StageClock());
        assertThat(longer.stages.get("parse").getName()).startsWith("adapt-turn-");
        assertThat(longer.stages.get("compute").getName()).startsWith("adapt-long-");
        assertThat(adaptive.decided(Decision.LOW_PRIORITY_THREAD)).isEqualTo(1);
        assertThat(adaptive.decided(Decision.IN_TURN)).isZero();
        releaseAll();
    }

    @Test
    void its_threads_outlive_what_the_work_throws_and_the_caller_is_told() throws Exception {
        aRequestOnEachCore();
        for (Throwable thrown : List.of(new ArithmeticException("x"), new OutOfMemoryError("not really"))) {
            LoopOnly failing = new LoopOnly((from, to) -> {
                throw Tasks.unchecked(thrown);
            });
            for (int i = 0; i < CORES + 2; i++) {
                byte[] body = new byte[BODY_WORTH_A_TURN_BYTES];
                assertThatThrownBy(() -> adaptive.execute(failing, body, new StageClock()))
                        .isSameAs(thrown);
            }
        }
        assertThat(new Observed(1, 1, 1, WORTH_A_TURN).under(adaptive)).containsExactly(1);
        assertThat(adaptive.decided(Decision.IN_TURN)).isEqualTo(2 * (CORES + 2) + 1);
        releaseAll();
    }

    @Test
    void an_interrupted_wait_ends_and_others_have_their_turn() throws Exception {
        for (int i = 0; i < 2 * CORES; i++) {
            oneMore();
        }
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> new Observed(1, 1, 1, WORTH_A_TURN).under(adaptive))
                .isInstanceOf(IllegalStateException.class);
        assertThat(Thread.interrupted()).isTrue();
        releaseAll();
        await(() -> adaptive.waiting() == 0);
        laterOn();
        assertThat(new Observed(100, 1, 3, WORTH_HELP).under(adaptive)).containsExactly(1);
    }

    @Test
    void closing_ends_its_threads_and_fails_what_waits() throws Exception {
        for (int i = 0; i <= 2 * CORES; i++) {
            oneMore();
        }
        CompletableFuture<Void> closing = CompletableFuture.runAsync(adaptive::close, callers);
        await(answers.get(2 * CORES)::isCompletedExceptionally);
        all.forEach(Observed::release);
        closing.get();
        for (int i = 0; i < 2 * CORES; i++) {
            assertThat(answers.get(i).get()).containsExactly(1);
        }
        assertThat(all.get(CORES).stages.get("compute").isAlive()).isFalse();
    }
}
