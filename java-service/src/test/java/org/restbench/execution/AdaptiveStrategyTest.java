package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.restbench.affinity.BackgroundThreads;

/** The strategy that chooses does what it chose, and chooses by what work costs. */
@Timeout(60)
class AdaptiveStrategyTest {
    /** By {@link StrategiesOf#COSTS}. */
    private static final long SMALL = 39_999;

    private static final long WORTH_HELP = 40_000;
    private static final long WORTH_A_TURN = 250_000;
    private static final int BODY_WORTH_A_TURN_BYTES = 25_000;
    private static final long NOT_LONG = 9_999_999;
    private static final long LONG = 10_000_000;
    private static final int LONG_BODY_BYTES = 1_000_000;

    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final AdaptiveStrategy adaptive = onCores(3);

    private static AdaptiveStrategy onCores(int cores) {
        BackgroundThreads background = new BackgroundThreads(AdaptiveStrategy.WORKERS);
        return new AdaptiveStrategy(() -> StrategiesOf.COSTS, cores, background);
    }

    @AfterEach
    void close() {
        adaptive.close();
        callers.shutdown();
    }

    private CompletableFuture<byte[]> start(Observed observed) {
        return CompletableFuture.supplyAsync(() -> observed.under(adaptive), callers);
    }

    private static void await(BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - start).as("ns of waiting").isLessThan(TimeUnit.SECONDS.toNanos(50));
            Thread.onSpinWait();
        }
    }

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
    void long_work_leaves_its_caller_and_the_idle_among_its_threads_help() {
        Observed longer = new Observed(100, 1, 3, LONG);
        longer.under(adaptive);
        assertThat(longer.stages.get("parse")).isSameAs(Thread.currentThread());
        assertThat(longer.stages.get("compute").getName()).startsWith("adapt-long-");
        assertThat(longer.stages.get("serialize")).isSameAs(longer.stages.get("compute"));
        assertThat(longer.threadNames()).containsExactly("adapt-long-1", "adapt-long-2", "adapt-long-3");
        assertThat(adaptive.decided(Decision.LOW_PRIORITY_THREAD)).isEqualTo(1);
        assertThat(adaptive.decided(Decision.BLOCKS)).isEqualTo(1);
        assertThat(adaptive.decided(Decision.CALLER)).isZero();
    }

    @Test
    void the_loop_of_long_work_is_not_cut_where_all_its_threads_have_work_of_their_own() throws Exception {
        List<Observed> busy = List.of(new Observed(1, 1, 2, LONG), new Observed(1, 1, 2, LONG));
        List<CompletableFuture<byte[]>> answers = busy.stream().map(this::start).toList();
        await(() -> busy.stream().noneMatch(it -> it.pieces.isEmpty()));
        Observed longer = new Observed(100, 1, 1, LONG);
        longer.under(adaptive);
        assertThat(longer.pieces).hasSize(1);
        busy.forEach(Observed::release);
        for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get()).containsExactly(1);
        }
        assertThat(adaptive.decided(Decision.BLOCKS)).isZero();
    }

    @Test
    void a_long_body_is_parsed_by_the_thread_that_computes() {
        Observed longer = new Observed(1, 1, 1, 1);
        adaptive.execute(longer, new byte[LONG_BODY_BYTES], new StageClock());
        assertThat(longer.stages.get("parse").getName()).startsWith("adapt-long-");
        assertThat(longer.stages.get("parse")).isSameAs(longer.stages.get("serialize"));
    }

    @Test
    void threads_of_long_work_give_way_to_others_and_its_callers_do_not() {
        int before = NiceValue.ofCurrentThread();
        List<Integer> nice = Collections.synchronizedList(new ArrayList<>());
        LoopOnly longer = new LoopOnly((from, to) -> nice.add(NiceValue.ofCurrentThread()));
        adaptive.execute(longer, new byte[LONG_BODY_BYTES], new StageClock());
        assertThat(nice).isNotEmpty().containsOnly(Math.max(5, before));
        assertThat(NiceValue.ofCurrentThread()).isEqualTo(before);
    }

    @Test
    void no_more_long_ones_run_at_once_than_cores_and_they_begin_in_the_order_they_came() throws Exception {
        List<Observed> all = new ArrayList<>();
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            Observed next = new Observed(1, 1, 2, LONG);
            all.add(next);
            answers.add(start(next));
            int before = Math.max(0, i - 2);
            await(() -> adaptive.waiting() == before && (before > 0 || !next.pieces.isEmpty()));
        }
        for (int i = 0; i < 9; i++) {
            for (int later = i + 3; later < 9; later++) {
                assertThat(all.get(later).stages).doesNotContainKey("compute");
            }
            all.get(i).release();
            assertThat(answers.get(i).get()).containsExactly(1);
            int last = Math.min(8, i + 3);
            await(() -> !all.get(last).pieces.isEmpty());
        }
    }

    @Test
    void small_work_is_done_while_all_threads_of_long_work_are_taken_and_more_of_it_waits() throws Exception {
        List<Observed> blocked = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            blocked.add(new Observed(1, 1, 2, LONG));
        }
        List<CompletableFuture<byte[]>> answers =
                blocked.stream().map(this::start).toList();
        await(() -> adaptive.waiting() == 5);
        assertThat(new Observed(12, 1, 1, SMALL).under(adaptive)).containsExactly(1);
        assertThat(new Observed(100, 1, 3, WORTH_HELP).under(adaptive)).containsExactly(1);
        blocked.forEach(Observed::release);
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

    @Test
    void a_thread_of_long_work_outlives_an_error_and_the_caller_is_told() {
        for (Error error : List.of(new OutOfMemoryError("not really"), new NoClassDefFoundError("x"))) {
            LoopOnly failing = new LoopOnly((from, to) -> {
                throw error;
            });
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> adaptive.execute(failing, new byte[LONG_BODY_BYTES], new StageClock()))
                        .isSameAs(error);
            }
        }
        assertThat(new Observed(100, 1, 3, LONG).under(adaptive)).containsExactly(1);
    }

    @Test
    void closing_ends_its_threads_and_fails_what_waits() throws Exception {
        List<Observed> blocked = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            blocked.add(new Observed(1, 1, 2, LONG));
        }
        List<CompletableFuture<byte[]>> answers =
                blocked.stream().map(this::start).toList();
        await(() -> adaptive.waiting() == 2
                && blocked.stream().filter(it -> !it.pieces.isEmpty()).count() == 3);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(adaptive::close, callers);
        await(() -> answers.stream()
                        .filter(CompletableFuture::isCompletedExceptionally)
                        .count()
                == 2);
        blocked.forEach(Observed::release);
        closing.get();
        assertThat(answers.stream().filter(it -> !it.isCompletedExceptionally()))
                .hasSize(3);
        assertThatThrownBy(() -> new Observed(1, 1, 1, LONG).under(adaptive)).hasMessageContaining("stopped");
        for (Observed observed : blocked) {
            Thread worker = observed.stages.get("compute");
            if (worker != null) {
                worker.join(20_000);
                assertThat(worker.isAlive()).isFalse();
            }
        }
    }
}
