package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies.Technique;
import org.restbench.execution.ThreadPool.ThreadBudget;
import org.restbench.workload.InvalidRequest;

/** Each strategy IS what its name says. */
class StrategiesTest {
    private final Strategies strategies = StrategiesOf.cores(3);

    @AfterEach
    void close() {
        strategies.close();
    }

    private ExecutionStrategy strategy(String name) {
        return StrategiesOf.named(name, strategies);
    }

    @Test
    void every_strategy_covers_every_unit_once_and_answers_with_the_last_stage() {
        for (Technique technique : strategies.all()) {
            for (int[] shape : new int[][] {{1, 1}, {7, 3}, {12, 4}, {250, 1}, {5, 9}}) {
                Observed observed = new Observed(shape[0], shape[1], 1);
                assertThat(observed.under(technique.strategy())).containsExactly(1);
                int next = 0;
                for (Observed.Piece piece : observed.inUnitOrder()) {
                    assertThat(piece.from()).as(technique.name()).isEqualTo(next);
                    next = piece.to();
                }
                assertThat(next).as(technique.name()).isEqualTo(shape[0]);
            }
        }
    }

    @Test
    void every_strategy_throws_on_what_a_body_threw_and_works_afterwards() {
        List<Throwable> failures = List.of(
                new ArithmeticException("x"),
                new IllegalCallerException("y"),
                new OutOfMemoryError("not really"),
                new NoClassDefFoundError("z"),
                new StackOverflowError());
        for (Technique technique : strategies.all()) {
            for (Throwable thrown : failures) {
                Observed failing = Observed.doing((from, to) -> {
                    throw Tasks.unchecked(thrown);
                });
                assertThatThrownBy(() -> failing.under(technique.strategy())).isSameAs(thrown);
                assertThat(new Observed(4, 2, 1).under(technique.strategy())).containsExactly(1);
            }
        }
    }

    @Test
    void serial_runs_all_in_order_on_the_callers_thread() {
        Observed observed = new Observed(6, 2, 1);
        observed.under(strategy("serial"));
        assertThat(Set.copyOf(observed.stages.values())).containsExactly(Thread.currentThread());
        assertThat(observed.pieces).containsExactly(new Observed.Piece(Thread.currentThread(), 0, 6));
    }

    @Test
    void thread_pool_runs_a_task_a_row_on_as_many_threads_as_rows() {
        Observed observed = new Observed(5 * 4, 4, 5);
        observed.under(strategy("thread-pool"));
        assertThat(observed.peak).hasValue(5);
        assertThat(observed.threadNames())
                .containsExactly("thread-pool-1", "thread-pool-2", "thread-pool-3", "thread-pool-4", "thread-pool-5");
        assertThat(observed.pieces).hasSize(5).allMatch(piece -> piece.to() - piece.from() == 4);
        assertThat(observed.stages.get("compute")).isSameAs(Thread.currentThread());
    }

    @Test
    void thread_pool_never_has_more_than_100_threads_and_ends_them_with_the_request() throws InterruptedException {
        Observed observed = new Observed(250, 1, 100);
        observed.under(strategy("thread-pool"));
        assertThat(observed.peak).hasValue(100);
        assertThat(observed.threadNames()).hasSize(100).contains("thread-pool-100");
        for (Observed.Piece piece : observed.pieces) {
            piece.thread().join(60_000); // the pool is ended when its last thread is about to be
            assertThat(piece.thread().isAlive()).isFalse();
        }
    }

    @Test
    void thread_pool_has_one_pool_a_request_however_many_loops_it_runs() {
        Set<Thread> threads = Collections.newSetFromMap(new ConcurrentHashMap<>());
        Loops pools = new ThreadPool(new ThreadBudget(200));
        try (Loops.RequestLoop loop = pools.open(waited -> {})) {
            for (int i = 0; i < 300; i++) {
                loop.forEach(i % 2 == 0 ? 4 : 50, 1, (from, to) -> threads.add(Thread.currentThread()));
            }
        }
        assertThat(threads).hasSizeBetween(1, 4);
        threads.forEach(thread -> assertThat(thread.getName()).startsWith("thread-pool-"));
    }

    @Test
    void fork_join_runs_a_task_a_row_on_the_threads_of_a_pool_of_its_own() {
        Observed first = new Observed(50 * 4, 4, 3);
        first.under(strategy("fork-join"));
        assertThat(first.peak).hasValue(3);
        assertThat(first.threadNames()).containsExactly("fork-join-1", "fork-join-2", "fork-join-3");
        assertThat(first.pieces).hasSize(50).allMatch(piece -> piece.to() - piece.from() == 4);
        assertThat(first.stages.get("compute")).isSameAs(Thread.currentThread());
    }

    @Test
    void a_request_is_refused_more_threads_than_it_may_have() {
        WorkLimits limits = new WorkLimits(0, 9, 9);
        for (String name : List.of("thread-pool", "thread-per-element")) {
            Observed nine = new Observed(9, 1, 1);
            Jobs.answer(strategy(name).execute(nine.job(limits, () -> true)));
            Observed ten = new Observed(10, 1, 1);
            assertThatThrownBy(() -> Jobs.answer(strategy(name).execute(ten.job(limits, () -> true))))
                    .hasMessage("threads: 10, the limit is 9")
                    .isInstanceOfSatisfying(
                            InvalidRequest.class, it -> assertThat(it.code()).isEqualTo("011"));
            assertThat(ten.pieces).isEmpty();
        }
    }

    @Test
    void thread_per_element_starts_a_new_thread_a_unit_and_none_beside_another() {
        Observed observed = new Observed(40, 4, 1);
        observed.under(strategy("thread-per-element"));
        assertThat(observed.peak).hasValue(1);
        assertThat(observed.threadNames()).containsExactly("element");
        assertThat(observed.pieces.stream().map(Observed.Piece::thread).collect(Collectors.toSet()))
                .hasSize(40);
        assertThat(observed.pieces).allMatch(piece -> piece.to() - piece.from() == 1);
        assertThat(observed.pieces).isEqualTo(observed.inUnitOrder());
    }

    @Test
    void shared_pool_keeps_its_threads_and_gives_each_a_block_of_whole_rows() {
        Observed first = new Observed(10 * 4 - 1, 4, 3);
        first.under(strategy("shared-pool"));
        assertThat(first.peak).hasValue(3);
        assertThat(first.threadNames()).containsExactly("shared-1", "shared-2", "shared-3");
        assertThat(first.inUnitOrder()).extracting(Observed.Piece::to).containsExactly(12, 24, 39);
        Observed second = new Observed(40, 4, 3);
        second.under(strategy("shared-pool"));
        assertThat(threads(second)).isEqualTo(threads(first));
    }

    private static Set<Thread> threads(Observed observed) {
        return observed.pieces.stream().map(Observed.Piece::thread).collect(Collectors.toSet());
    }

    @Test
    void virtual_threads_run_a_task_a_row_where_java_has_them_and_are_absent_elsewhere() throws Exception {
        boolean offered = strategies.all().stream().anyMatch(it -> it.name().equals("virtual-threads"));
        assertThat(offered).isEqualTo(Runtime.version().feature() >= 21);
        assumeTrue(offered);
        Observed observed = new Observed(50 * 4, 4, 50);
        observed.under(strategy("virtual-threads"));
        assertThat(observed.peak).hasValue(50);
        var isVirtual = Thread.class.getMethod("isVirtual");
        for (Observed.Piece piece : observed.pieces) {
            assertThat(isVirtual.invoke(piece.thread())).isEqualTo(true);
            assertThat(piece.to() - piece.from()).isEqualTo(4);
        }
    }

    @Test
    void worker_pool_runs_every_stage_on_one_of_its_threads() {
        Observed observed = new Observed(4, 2, 1);
        observed.under(strategy("worker-pool"));
        assertThat(Set.copyOf(observed.stages.values())).hasSize(1);
        assertThat(observed.threadNames()).hasSize(1).allMatch(name -> name.matches("worker-pool-[1-3]"));
    }

    @ParameterizedTest
    @CsvSource({"0,3,20", "7,7,7"})
    void worker_pool_has_a_thread_a_core_and_20_for_what_blocks_or_as_many_as_it_is_told(
            int asked, int computing, int blocking) {
        Set<Thread> before = poolThreads();
        WorkerPool pool = new WorkerPool(asked, 3);
        try {
            Set<Thread> made = poolThreads(); // those that compute; the others are made when they are needed
            made.removeAll(before);
            assertThat(made).hasSize(computing);
            Observed atOnce = new Observed(1, 1, computing);
            startTwice(computing, atOnce, pool);
            assertThat(made).containsAll(threads(atOnce));
            Observed waiting = Observed.blocking(blocking);
            startTwice(blocking, waiting, pool);
            assertThat(waiting.threadNames()).hasSize(blocking).contains("worker-pool-" + blocking);
        } finally {
            pool.close(ExecutionStrategy.Deadline.afterSeconds(60));
        }
    }

    private static Set<Thread> poolThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().startsWith("worker-pool-"))
                .collect(Collectors.toSet());
    }

    /** Twice as many requests as there are threads, of which so many have to run at once. */
    private static void startTwice(int threads, Observed observed, WorkerPool pool) {
        List<CompletionStage<byte[]>> answers = IntStream.range(0, 2 * threads)
                .mapToObj(i -> observed.start(pool))
                .toList();
        answers.forEach(Jobs::answer);
    }

    @Test
    void virtual_thread_per_request_runs_every_stage_on_a_new_virtual_thread() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21);
        Observed first = new Observed(4, 2, 1);
        Observed second = new Observed(4, 2, 1);
        first.under(strategy("virtual-thread-per-request"));
        second.under(strategy("virtual-thread-per-request"));
        Thread thread = first.stages.get("parse");
        assertThat(Set.copyOf(first.stages.values())).containsExactly(thread);
        assertThat(Thread.class.getMethod("isVirtual").invoke(thread)).isEqualTo(true);
        assertThat(second.stages.get("parse")).isNotSameAs(thread);
    }

    @Test
    void a_workload_without_loops_is_offered_where_nothing_is_cut() {
        List<String> names = strategies.all().stream()
                .filter(each -> each.takes(Observed.blocking(1)))
                .map(Technique::name)
                .toList();
        assertThat(names).startsWith("serial", "pinned", "pipeline", "worker-pool");
        assertThat(names).hasSize(Runtime.version().feature() >= 21 ? 5 : 4);
    }

    @Test
    void closing_ends_every_lasting_thread() throws InterruptedException {
        Observed pinned = new Observed(1, 1, 1);
        Observed piped = new Observed(1, 1, 1);
        Observed shared = new Observed(1, 1, 1);
        Observed pooled = new Observed(1, 1, 1);
        pinned.under(strategy("pinned"));
        piped.under(strategy("pipeline"));
        shared.under(strategy("shared-pool"));
        pooled.under(strategy("worker-pool"));
        strategies.close();
        for (Thread thread : List.of(
                pinned.stages.get("parse"),
                piped.stages.get("parse"),
                piped.stages.get("compute"),
                piped.stages.get("serialize"),
                pooled.stages.get("parse"),
                shared.pieces.get(0).thread())) {
            thread.join(60_000);
            assertThat(thread.isAlive()).as(thread.getName()).isFalse();
        }
    }

    @Test
    void names_fit_the_15_characters_that_proc_shows() {
        assertThat(List.of(
                        "thread-pool-" + ThreadPool.MOST_THREADS,
                        "pipe-serialize",
                        "pinned-1024",
                        "adapt-long-1024",
                        AdaptiveStrategy.LOOP_OWNERS + "999",
                        "worker-pool-999"))
                .allMatch(name -> name.length() <= 15);
    }
}
