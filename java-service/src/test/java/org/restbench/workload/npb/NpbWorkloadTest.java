package org.restbench.workload.npb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.workload.TestLoops.IN_ORDER;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.npb.NpbWorkload.NpbRequest;
import org.restbench.workload.npb.NpbWorkload.NpbResult;
import org.restbench.workload.npb.Problem.Kernel;
import org.restbench.workload.npb.Problem.Outcome;

/** What a request takes of the memory, and what of its input is kept. */
class NpbWorkloadTest {
    private final MemoryBudget memory = new MemoryBudget(1000);
    private final InputCache inputs = new InputCache(memory);
    private final List<String> built = new ArrayList<>();

    /** Takes so much memory and finds 1. */
    private record Sized(String name, long workingBytes, long keptBytes, Consumer<String> built)
            implements Problem<String> {
        @Override
        public String input(boolean kept, ParallelLoop loop) {
            built.accept(name + (kept ? " kept" : ""));
            return name;
        }

        @Override
        public Outcome run(String input, ParallelLoop loop) {
            assertThat(input).isEqualTo(name);
            return new Outcome(true, List.of(1.0), List.of(1.0), 1, 2_000_000_000, 5);
        }

        @Override
        public double millionOperations() {
            return 5;
        }
    }

    private final Consumer<String> noting = built::add;
    private final Kernel kernel = new Kernel(
            "T",
            List.of(
                    new Sized("S", 100, 100, noting),
                    new Sized("W", 200, 150, noting),
                    new Sized("A", 900, 10, noting),
                    new Sized("B", 300, 251, noting),
                    new Sized("C", 1001, 10, noting)));

    private static final RequestId ID = new RequestId("7", true);

    private NpbRequest request(String npbClass, boolean generate) {
        Problem<?> problem = kernel.problems().stream()
                .filter(each -> each.name().equals(npbClass))
                .findFirst()
                .orElseThrow();
        return new NpbRequest(ID, problem, generate);
    }

    private NpbResult answer(String npbClass, boolean generate) {
        NpbWorkload workload = new NpbWorkload(kernel, inputs);
        NpbRequest request = request(npbClass, generate);
        MemoryBudget.Hold hold = memory.hold(workload.workingBytes(request));
        NpbResult result = workload.compute(request, IN_ORDER);
        hold.close();
        return result;
    }

    @Test
    void answers_with_what_the_kernel_found() {
        NpbResult result = answer("S", true);
        assertThat(result.outcome().mops()).isEqualTo(2.5);
        assertThat(List.of(result.id(), result.kernel(), result.npbClass())).containsExactly(ID, "T", "S");
    }

    @Test
    void a_class_that_never_fits_is_told_with_what_it_needs() {
        NpbWorkload workload = new NpbWorkload(kernel, inputs);
        NpbRequest request = new NpbRequest(ID, new Sized("S", 2 << 20, 1, noting), false);
        MemoryBudget.Hold hold = new MemoryBudget(2 << 20).hold(0);
        assertThatThrownBy(() -> hold.requirePossible(workload.subject(request), workload.workingBytes(request)))
                .isInstanceOf(MemoryRefused.class)
                .hasMessage("class: S needs 3 MiB of memory, the limit is 2 MiB");
    }

    @Test
    void an_input_is_built_once_for_all_that_want_none_of_their_own() {
        answer("S", false);
        answer("S", true);
        answer("S", false);
        assertThat(built).containsExactly("S kept", "S");
        assertThat(memory.heldBytes()).isEqualTo(100);
    }

    @Test
    void inputs_used_longest_ago_make_room_within_a_quarter_of_the_memory() {
        answer("S", false);
        answer("W", false);
        answer("S", false);
        assertThat(memory.heldBytes()).isEqualTo(250);
        answer("A", false); // 910 do not fit beside 250: what is kept goes, and 10 stay
        assertThat(memory.heldBytes()).isEqualTo(10);
        answer("W", false);
        answer("S", false); // 260 are more than a quarter: the eldest goes
        assertThat(memory.heldBytes()).isEqualTo(250);
        assertThat(built).containsExactly("S kept", "W kept", "A kept", "W kept", "S kept");
    }

    @Test
    void an_input_larger_than_the_cache_is_built_each_time() {
        answer("B", false);
        answer("B", false);
        assertThat(built).containsExactly("B kept", "B kept");
        assertThat(memory.heldBytes()).isZero();
    }
}
