package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;

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
                .hasSize(3)
                .contains(Thread.currentThread().getName());
        assertThat(larger.threadNames().stream().filter(it -> it.startsWith("adapt-turn-")))
                .hasSize(2);
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
