package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The strategy that chooses does what it chose, and chooses by what work costs. */
class AdaptiveStrategyTest extends AdaptiveUnderTest {
    @ParameterizedTest
    @ValueSource(longs = {SMALL, NOT_WORTH_HELP})
    void small_work_is_done_in_order_by_the_callers_thread(long operations) {
        Observed small = new Observed(12, 1, 1, operations);
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
    void what_is_almost_long_stays_with_its_caller_however_many_there_were() throws Exception {
        crowd();
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
    void a_core_whose_caller_was_here_a_moment_ago_helps_only_when_he_does_not_come_back() throws Exception {
        Observed other = new Observed(1, 1, 2, SMALL);
        CompletableFuture<byte[]> answer = start(other);
        await(() -> !other.pieces.isEmpty());
        new Observed(1, 1, 1, SMALL).under(adaptive);
        other.release();
        answer.get();
        Observed soon = new Observed(100, 1, 2, WORTH_HELP);
        soon.under(adaptive);
        assertThat(soon.pieces).hasSize(2);
        laterOn();
        Observed later = new Observed(100, 1, 3, WORTH_HELP);
        later.under(adaptive);
        assertThat(later.pieces).hasSize(3);
    }

    @Test
    void long_work_too_stays_with_its_caller_while_there_is_a_core_for_each_request() throws Exception {
        Observed alone = new Observed(100, 1, 3, LONG);
        adaptive.execute(alone, new byte[LONG_BODY_BYTES], new StageClock());
        assertThat(Set.copyOf(alone.stages.values())).containsExactly(Thread.currentThread());
        assertThat(alone.threadNames().stream().filter(it -> it.startsWith(AdaptiveStrategy.WORKERS)))
                .as("help that gives way")
                .hasSize(2);
        crowd();
        Observed amongMany = new Observed(1, 1, 1, LONG);
        amongMany.under(adaptive);
        assertThat(amongMany.threadNames()).allMatch(it -> it.startsWith(AdaptiveStrategy.WORKERS));
        laterOn();
        Observed aloneAgain = new Observed(100, 1, 3, LONG);
        aloneAgain.under(adaptive);
        assertThat(Set.copyOf(aloneAgain.stages.values())).containsExactly(Thread.currentThread());
    }

    @Test
    void on_one_core_nothing_is_cut_and_of_two_long_ones_the_second_gives_way() throws Exception {
        try (AdaptiveStrategy narrow = onCores(1)) {
            Observed first = new Observed(100, 1, 2, LONG);
            CompletableFuture<byte[]> answer = CompletableFuture.supplyAsync(() -> first.under(narrow), callers);
            await(() -> !first.pieces.isEmpty());
            Observed second = new Observed(100, 1, 1, LONG);
            second.under(narrow);
            assertThat(second.threadNames()).containsExactly("adapt-long-1");
            assertThat(second.pieces).hasSize(1);
            first.release();
            answer.get();
            assertThat(first.pieces).hasSize(1);
            assertThat(first.threadNames()).noneMatch(it -> it.startsWith("adapt-"));
        }
    }
}
