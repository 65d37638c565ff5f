package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.Workload.Bound;

/** What a request is refused before it computes. */
class JobTest {
    private static final WorkLimits LIMITS = new WorkLimits(10, 20, 0);

    /** Of so many operations, bounded so, that need 100 bytes. */
    private static final class Sized extends Observed {
        private final Bound bound;

        Sized(long operations, Bound bound) {
            super(1, 1, 1, operations);
            this.bound = bound;
        }

        @Override
        public Bound bound(String input) {
            return bound;
        }

        @Override
        public long workingBytes(String input) {
            return 100;
        }
    }

    private static void decode(long operations, Bound bound, MemoryBudget.Hold memory) {
        decode(operations, bound, memory, Loops.IN_ORDER);
    }

    private static void decode(long operations, Bound bound, MemoryBudget.Hold memory, Loops loops) {
        Sized sized = new Sized(operations, bound);
        new Job<>(new CodedWorkload<>(sized, sized), new byte[0], Query.NONE, memory, LIMITS, () -> true).decode(loops);
    }

    @Test
    void operations_are_bounded_by_their_kind_and_those_of_work_bounded_by_memory_are_not() {
        MemoryBudget memory = new MemoryBudget(1000);
        try (MemoryBudget.Hold hold = memory.hold(0)) {
            decode(10, Bound.LOOP_OPERATIONS, hold);
            decode(20, Bound.OPERATIONS, hold);
            decode(Long.MAX_VALUE, Bound.MEMORY, hold);
            assertThat(memory.heldBytes()).isEqualTo(300);
            assertRefused("operations: 11, the limit is 10", 11, Bound.LOOP_OPERATIONS, hold);
            assertRefused("operations: 21, the limit is 20", 21, Bound.OPERATIONS, hold);
            assertThat(memory.heldBytes()).as("nothing more is held").isEqualTo(300);
        }
        assertThat(memory.heldBytes()).isZero();
    }

    private static void assertRefused(String message, long operations, Bound bound, MemoryBudget.Hold hold) {
        assertThatThrownBy(() -> decode(operations, bound, hold))
                .hasMessage(message)
                .isInstanceOfSatisfying(
                        InvalidRequest.class, it -> assertThat(it.code()).isEqualTo("011"));
    }

    @Test
    void the_memory_to_compute_in_is_reserved_by_decoding_after_the_limit_of_operations() {
        MemoryBudget memory = new MemoryBudget(150);
        memory.hold(60);
        try (MemoryBudget.Hold hold = memory.hold(0)) {
            assertThatThrownBy(() -> decode(11, Bound.LOOP_OPERATIONS, hold)).isInstanceOf(InvalidRequest.class);
            assertThatThrownBy(() -> decode(10, Bound.LOOP_OPERATIONS, hold))
                    .isInstanceOfSatisfying(
                            MemoryRefused.class, it -> assertThat(it.never()).isFalse());
        }
        try (MemoryBudget.Hold hold = new MemoryBudget(99).hold(0)) {
            assertThatThrownBy(() -> decode(10, Bound.LOOP_OPERATIONS, hold))
                    .isInstanceOfSatisfying(
                            MemoryRefused.class, it -> assertThat(it.never()).isTrue());
        }
    }

    @Test
    void what_never_fits_is_010_before_011_and_too_many_threads_are_011_before_what_does_not_fit_now() {
        try (MemoryBudget.Hold hold = new MemoryBudget(99).hold(0)) {
            assertThatThrownBy(() -> decode(11, Bound.LOOP_OPERATIONS, hold))
                    .isInstanceOfSatisfying(
                            MemoryRefused.class, it -> assertThat(it.never()).isTrue());
        }
        MemoryBudget memory = new MemoryBudget(150);
        memory.hold(60);
        try (MemoryBudget.Hold hold = memory.hold(0)) {
            assertThatThrownBy(() -> decode(10, Bound.LOOP_OPERATIONS, hold, new ThreadPerElement()))
                    .isInstanceOf(InvalidRequest.class)
                    .hasMessage("threads: 1, the limit is 0");
        }
    }

    @Test
    void what_is_kept_for_no_request_goes_before_one_is_refused() {
        MemoryBudget memory = new MemoryBudget(150);
        MemoryBudget.Hold kept = memory.hold(100);
        memory.reclaimBy(kept::close);
        try (MemoryBudget.Hold hold = memory.hold(0)) {
            decode(10, Bound.LOOP_OPERATIONS, hold);
            assertThat(memory.heldBytes()).isEqualTo(100);
        }
    }
}
