package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.affinity.CoreAffinity;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.affinity.RefusingAffinity;
import org.restbench.codec.Query;
import org.restbench.execution.ExecutionStrategy.Deadline;
import org.restbench.execution.ExecutionStrategy.StrategyFault;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.ParallelLoop;

/** Strategies that move a request to threads of their own: what pinned is, and what it has in common with pipeline. */
class WorkerStrategiesTest {
    private static final int CORE = new OpenHftAffinity().coresOfProcess().length() - 1;

    private final Strategies strategies = StrategiesOf.cores(3);
    private final List<PinnedStrategy> others = new ArrayList<>();

    @AfterEach
    void close() {
        strategies.close();
        others.forEach(each -> each.close(Deadline.afterSeconds(5)));
    }

    private PinnedStrategy pinned(CoreAffinity affinity) {
        PinnedStrategy pinned = new PinnedStrategy(affinity, List.of(CORE));
        others.add(pinned);
        return pinned;
    }

    private ExecutionStrategy strategy(String name) {
        return StrategiesOf.named(name, strategies);
    }

    @Test
    void pinned_runs_every_stage_on_one_lasting_thread_that_may_run_on_one_core_only() {
        String before = allowedList();
        AtomicReference<String> mask = new AtomicReference<>();
        Observed.doing((from, to) -> mask.set(allowedList())).under(strategy("pinned"));
        assertThat(mask.get()).isEqualTo(Integer.toString(CORE));
        Observed first = new Observed(4, 2, 1);
        Observed second = new Observed(4, 2, 1);
        first.under(strategy("pinned"));
        second.under(strategy("pinned"));
        assertThat(first.threadNames()).containsExactly("pinned-1");
        assertThat(Set.copyOf(first.stages.values())).hasSize(1).isEqualTo(Set.copyOf(second.stages.values()));
        assertThat(allowedList()).as("the request's own thread is left alone").isEqualTo(before);
    }

    private static String allowedList() {
        try {
            return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                    .filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("none");
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    @Test
    void pinned_fails_rather_than_runs_unpinned() {
        Observed observed = new Observed(4, 2, 1);
        assertThatThrownBy(() -> observed.under(pinned(new RefusingAffinity())))
                .isInstanceOf(StrategyFault.class)
                .hasMessageContaining("refused");
        assertThat(observed.stages).isEmpty();
    }

    @Test
    void pinned_fails_once_somebody_has_moved_its_thread_until_it_is_moved_back() {
        BitSet elsewhere = new BitSet();
        elsewhere.set(CORE + 1);
        AtomicReference<BitSet> pretended = new AtomicReference<>();
        UnaryOperator<BitSet> told = seen -> pretended.get() == null ? seen : pretended.get();
        PinnedStrategy moved = pinned(new RefusingAffinity.Overheard(told));
        assertThat(new Observed(4, 2, 1).under(moved)).containsExactly(1);
        pretended.set(elsewhere);
        awaitAnswers(moved, false);
        assertThatThrownBy(() -> new Observed(4, 2, 1).under(moved))
                .isInstanceOf(StrategyFault.class)
                .hasMessageContaining("lost");
        pretended.set(null);
        awaitAnswers(moved, true);
    }

    /** A look is a call of the kernel, some microseconds: on the one worker each request would pay for it. */
    @Test
    void pinned_looks_after_its_pin_outside_of_requests() throws InterruptedException {
        Set<String> looking = ConcurrentHashMap.newKeySet();
        UnaryOperator<BitSet> noted = seen -> {
            looking.add(Thread.currentThread().getName());
            return seen;
        };
        PinnedStrategy pinned = pinned(new RefusingAffinity.Overheard(noted));
        while (looking.isEmpty()) {
            new Observed(4, 2, 1).under(pinned);
            Thread.sleep(1);
        }
        assertThat(looking).containsExactly("pin-watch");
    }

    @Test
    void pinned_looks_after_its_pin_again_where_a_look_met_the_end_of_memory() throws InterruptedException {
        AtomicInteger looks = new AtomicInteger();
        UnaryOperator<BitSet> failing = seen -> {
            if (looks.incrementAndGet() == 1) {
                throw new OutOfMemoryError("not really");
            }
            return seen;
        };
        PinnedStrategy pinned = pinned(new RefusingAffinity.Overheard(failing));
        while (looks.get() < 2) {
            new Observed(4, 2, 1).under(pinned);
            Thread.sleep(1);
        }
    }

    private static void awaitAnswers(PinnedStrategy strategy, boolean right) {
        while (new Observed(4, 2, 1)
                        .start(strategy)
                        .handle((answer, thrown) -> thrown == null)
                        .toCompletableFuture()
                        .join()
                != right) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pinned", "pipeline"})
    void a_worker_outlives_an_error_in_any_stage(String name) {
        Observed before = new Observed(4, 2, 1);
        before.under(strategy(name));
        for (String stage : List.of("parse", "compute", "serialize")) {
            Error error = new NoClassDefFoundError(stage);
            assertThatThrownBy(() -> new FailingIn(stage, error).under(strategy(name)))
                    .isSameAs(error);
        }
        Observed after = new Observed(4, 2, 1);
        after.under(strategy(name));
        assertThat(after.stages).isEqualTo(before.stages);
    }

    /** One stage of it throws. */
    private static final class FailingIn extends Observed {
        private final String stage;
        private final Error error;

        FailingIn(String stage, Error error) {
            super(4, 2, 1);
            this.stage = stage;
            this.error = error;
        }

        private void enter(String now) {
            if (now.equals(stage)) {
                throw error;
            }
        }

        @Override
        public String decode(byte[] body, Query query, MemoryBudget.Hold memory) {
            enter("parse");
            return super.decode(body, query, memory);
        }

        @Override
        public String compute(String input, ParallelLoop loop) {
            enter("compute");
            return super.compute(input, loop);
        }

        @Override
        public byte[] encode(String output) {
            enter("serialize");
            return super.encode(output);
        }
    }
}
