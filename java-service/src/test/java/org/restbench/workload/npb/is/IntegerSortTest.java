package org.restbench.workload.npb.is;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.restbench.workload.TestLoops.BACKWARDS;
import static org.restbench.workload.TestLoops.IN_ORDER;
import static org.restbench.workload.npb.Runs.run;
import static org.restbench.workload.npb.Runs.seedAfter;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Problem.Outcome;
import org.restbench.workload.npb.is.IntegerSort.Keys;
import org.restbench.workload.npb.is.IntegerSort.Ranking;

class IntegerSortTest {
    private static final List<Double> ALL = List.of(51.0);

    private static IntegerSort of(SortClass sizes) {
        return new IntegerSort(sizes, LinearCongruential.SEED);
    }

    static Stream<Arguments> keys() {
        return Stream.of(
                Arguments.of(SortClass.S, new int[] {1585, 825, 1060, 1343, 956, 437}, 67027849L),
                Arguments.of(SortClass.W, new int[] {50737, 26409, 33921, 42989, 30600, 13998}, 34365783705L),
                Arguments.of(SortClass.A, new int[] {405901, 211274, 271374, 343919, 244803, 111984}, 2199179599308L));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void keys_are_those_of_npb(SortClass sizes, int[] first, long sum) {
        int[] keys = of(sizes).input(false, BACKWARDS).values();
        assertThat(keys).hasSize(sizes.keys()).startsWith(first);
        assertThat(Arrays.stream(keys).asLongStream().sum()).isEqualTo(sum);
    }

    @Test
    void every_rank_of_the_small_classes_is_right_in_any_order_of_tasks() {
        for (SortClass sizes : new SortClass[] {SortClass.S, SortClass.W}) {
            for (ParallelLoop loop : List.of(IN_ORDER, BACKWARDS)) {
                Outcome outcome = run(of(sizes), loop);
                assertThat(outcome.verified()).isTrue();
                assertThat(outcome.value()).isEqualTo(ALL);
                assertThat(outcome.reference()).isEqualTo(ALL);
                assertThat(outcome.millionOperations()).isCloseTo(sizes.keys() * 10 / 1e6, within(1e-9));
            }
        }
    }

    @Test
    void other_keys_do_not_verify() {
        assertThat(run(new IntegerSort(SortClass.S, LinearCongruential.SEED + 2), IN_ORDER)
                        .verified())
                .isFalse();
        assertThat(run(new IntegerSort(SortClass.S, seedAfter(1)), IN_ORDER).verified())
                .isFalse();
    }

    @Test
    void a_kept_input_is_the_same_after_a_run_and_a_generated_one_is_used_up() {
        Keys kept = of(SortClass.S).input(true, IN_ORDER);
        int[] before = kept.values().clone();
        assertThat(of(SortClass.S).run(kept, IN_ORDER).verified()).isTrue();
        assertThat(kept.values()).isEqualTo(before);
        assertThat(of(SortClass.S).run(kept, IN_ORDER).verified()).isTrue();
        Keys used = of(SortClass.S).input(false, IN_ORDER);
        of(SortClass.S).run(used, IN_ORDER);
        assertThat(used.values()).isNotEqualTo(before);
    }

    @Test
    void one_key_at_a_wrong_place_is_seen() {
        int[] keys = of(SortClass.S).input(false, IN_ORDER).values();
        Ranking ranking = new Ranking(SortClass.S, keys, IN_ORDER);
        assertThat(ranking.rank(1)).isEqualTo(5);
        keys[40_000] = keys[40_000] == 1000 ? 1001 : 1000; // after it was ranked
        assertThat(ranking.sortsKeys()).isFalse();
    }
}
