package org.restbench.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.restbench.memory.MemoryBudget.MemoryRefused;

class MemoryBudgetTest {
    private final MemoryBudget budget = new MemoryBudget(100);

    @Test
    void gives_what_there_is_and_takes_all_of_it_back() {
        MemoryBudget.Hold one = budget.hold(60);
        MemoryBudget.Hold two = budget.hold(30);
        two.grow(10);
        assertThat(budget.heldBytes()).isEqualTo(100);
        two.shrink(15);
        assertThat(budget.heldBytes()).isEqualTo(85);
        one.close();
        one.close();
        assertThat(budget.heldBytes()).isEqualTo(25);
        two.close();
        assertThat(budget.heldBytes()).isZero();
    }

    @Test
    void what_does_not_fit_now_is_told_from_what_never_fits_and_costs_nothing() {
        MemoryBudget.Hold other = budget.hold(50);
        MemoryBudget.Hold hold = budget.hold(20);
        refuses(hold, 31, false);
        refuses(hold, 80, false);
        refuses(hold, 81, true);
        refuses(hold, Long.MAX_VALUE - 20, true);
        assertThat(budget.heldBytes()).isEqualTo(70);
        other.close();
        hold.grow(80);
        assertThat(budget.heldBytes()).isEqualTo(100);
    }

    private static void refuses(MemoryBudget.Hold hold, long bytes, boolean never) {
        assertThatThrownBy(() -> hold.grow(bytes))
                .hasMessageContaining(never ? " MiB of memory, the limit is 0 MiB" : "the requests in flight hold")
                .asInstanceOf(InstanceOfAssertFactories.type(MemoryRefused.class))
                .returns(never, MemoryRefused::never);
    }

    @Test
    void a_request_that_is_over_gets_no_more() {
        MemoryBudget.Hold hold = budget.hold(10);
        hold.close();
        assertThatThrownBy(() -> hold.grow(1)).isInstanceOf(IllegalStateException.class);
        hold.shrink(5);
        assertThat(budget.heldBytes()).isZero();
    }

    @Test
    void is_never_exceeded_by_many_threads() {
        AtomicLong most = new AtomicLong();
        IntStream.range(0, 20_000).parallel().forEach(i -> {
            try (MemoryBudget.Hold hold = budget.hold(i % 40)) {
                hold.grow(i % 20);
                most.accumulateAndGet(budget.heldBytes(), Math::max);
            } catch (MemoryRefused full) {
                most.accumulateAndGet(budget.heldBytes(), Math::max);
            }
        });
        assertThat(most.get()).isBetween(1L, 100L);
        assertThat(budget.heldBytes()).isZero();
    }
}
