package org.restbench.workload.npb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.TestLoops;

class BlocksTest {
    @Test
    void blocks_cover_each_unit_once_under_any_loop() {
        for (int units : new int[] {1, 2, 7, 100, 16_384, 50_001}) {
            for (long work : new long[] {0, 1, 5000, 1L << 40}) {
                for (ParallelLoop loop : List.of(TestLoops.IN_ORDER, TestLoops.BACKWARDS)) {
                    int[] seen = new int[units];
                    Blocks.of(units, work).forEach(loop, (from, to) -> {
                        for (int unit = from; unit < to; unit++) {
                            seen[unit]++;
                        }
                    });
                    assertThat(seen).containsOnly(1);
                }
            }
        }
    }

    @Test
    void a_single_block_asks_for_no_loop() {
        ParallelLoop none = (units, unitsPerTask, body) -> {
            throw new AssertionError("a loop for one block");
        };
        List<String> runs = new ArrayList<>();
        Blocks.of(100, 100).forEach(none, (from, to) -> runs.add(from + "-" + to));
        assertThat(runs).containsExactly("0-100");
    }

    @Test
    void a_block_is_worth_a_task() {
        assertThat(Blocks.of(1 << 20, 1).count()).isEqualTo(64);
        assertThat(Blocks.of(100, 1 << 20).count()).isEqualTo(100);
    }

    @Test
    void a_sum_is_the_same_to_the_last_bit_in_any_order() {
        Blocks blocks = Blocks.of(1000, 1000);
        Blocks.Sum harmonic = (from, to) -> {
            double sum = 0;
            for (int unit = from; unit < to; unit++) {
                sum += 1.0 / (unit + 1);
            }
            return sum;
        };
        double inOrder = blocks.sum(TestLoops.IN_ORDER, harmonic);
        assertThat(blocks.sum(TestLoops.BACKWARDS, harmonic)).isEqualTo(inOrder);
        assertThat(inOrder).isEqualTo(7.485470860550345, within(1e-12));
    }
}
