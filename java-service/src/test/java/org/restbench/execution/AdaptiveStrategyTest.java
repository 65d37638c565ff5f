package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.execution.Jobs.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.restbench.affinity.BackgroundThreads;
import org.restbench.execution.AdaptiveStrategy.Decision;
import org.restbench.execution.AdaptiveStrategy.LearnedCosts;
import org.restbench.execution.AdaptiveStrategy.RecentConcurrency;
import org.restbench.execution.ExecutionStrategy.AbandonedException;
import org.restbench.execution.ExecutionStrategy.Deadline;
import org.restbench.execution.Job.WorkLimits;

/** The strategy that chooses, on three cores: an operation is taken for a nanosecond, a byte for ten. */
class AdaptiveStrategyTest {
    private static final long DISPATCH_NANOS = 10_000;
    private static final long NOT_WORTH_HELP = 1_499_999;
    private static final long WORTH_HELP = 1_500_000;
    private static final long NOT_LONG = 9_999_999;
    private static final long LONG = 10_000_000;
    private static final int LONG_BODY_BYTES = 1_000_000;
    private static final int CORES = 3;

    private final AtomicLong nanos = new AtomicLong();
    private final SharedPool sharedPool = new SharedPool(CORES);
    private final AdaptiveStrategy adaptive = new AdaptiveStrategy(
            CORES, sharedPool, DISPATCH_NANOS, new BackgroundThreads(AdaptiveStrategy.WORKERS), nanos::get);

    @AfterEach
    void close() {
        adaptive.close(Deadline.afterSeconds(5));
        sharedPool.close(Deadline.afterSeconds(5));
    }

    private byte[] withBody(Observed observed, int bytes) {
        return Jobs.answer(adaptive.execute(observed.job(new byte[bytes], WorkLimits.NONE, () -> true)));
    }

    /** From now on more requests than there are cores are expected back. */
    private void crowd() {
        List<Observed> many =
                Stream.generate(() -> new Observed(1, 1, 2, 1)).limit(CORES + 1).toList();
        List<Thread> callers = many.stream()
                .map(each -> new Thread(() -> each.under(adaptive)))
                .toList();
        callers.forEach(Thread::start);
        await(() -> many.stream().noneMatch(it -> it.pieces.isEmpty()));
        many.forEach(Observed::release);
        await(() -> callers.stream().noneMatch(Thread::isAlive));
    }

    private void laterOn() {
        nanos.addAndGet(2 * RecentConcurrency.PERIOD_NANOS);
    }

    @Test
    void small_work_is_done_in_order_by_the_callers_thread() {
        Observed small = new Observed(12, 1, 1, NOT_WORTH_HELP);
        small.under(adaptive);
        assertThat(small.pieces).containsExactly(new Observed.Piece(Thread.currentThread(), 0, 12));
        assertThat(Set.copyOf(small.stages.values())).containsExactly(Thread.currentThread());
        assertThat(adaptive.decided(Decision.CALLER)).isEqualTo(1);
    }

    @Test
    void larger_work_has_its_loop_on_the_shared_pool_while_cores_are_idle() {
        Observed larger = new Observed(100, 1, 3, WORTH_HELP);
        larger.under(adaptive);
        assertThat(larger.stages.get("parse")).isSameAs(Thread.currentThread());
        assertThat(larger.stages.get("compute").getName()).startsWith(AdaptiveStrategy.LOOP_OWNERS);
        assertThat(larger.stages.get("serialize")).isSameAs(larger.stages.get("compute"));
        assertThat(larger.threadNames()).containsExactly("shared-1", "shared-2", "shared-3");
        assertThat(adaptive.decided(Decision.SHARED_POOL)).isEqualTo(1);
    }

    @Test
    void a_caller_does_not_wait_for_the_shared_pool() {
        Observed larger = new Observed(1, 1, 2, WORTH_HELP);
        CompletionStage<byte[]> answer = larger.start(adaptive);
        assertThat(answer.toCompletableFuture()).isNotDone();
        assertThat(new Observed(12, 1, 1, NOT_WORTH_HELP).under(adaptive)).containsExactly(1);
        larger.release();
        assertThat(Jobs.answer(answer)).containsExactly(1);
        assertThat(adaptive.decided(Decision.SHARED_POOL)).isEqualTo(1);
    }

    @Test
    void larger_work_stays_in_order_where_as_many_were_here_a_moment_ago_as_there_are_cores() {
        crowd();
        Observed soon = new Observed(100, 1, 1, NOT_LONG);
        withBody(soon, LONG_BODY_BYTES - 1);
        assertThat(soon.pieces).containsExactly(new Observed.Piece(Thread.currentThread(), 0, 100));
        laterOn();
        Observed later = new Observed(100, 1, 3, NOT_LONG);
        later.under(adaptive);
        assertThat(later.pieces).hasSize(3);
    }

    @Test
    void long_work_keeps_its_priority_while_there_is_a_core_for_each_request() {
        Observed alone = new Observed(100, 1, 3, LONG);
        withBody(alone, LONG_BODY_BYTES);
        assertThat(alone.stages.get("parse")).isSameAs(Thread.currentThread());
        assertThat(adaptive.decided(Decision.SHARED_POOL)).isEqualTo(1);
    }

    /** As the kernel tells it: field 19 of {@code stat} (proc(5)). */
    private static int niceOfCurrentThread() {
        try {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19 - 3]);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Test
    void long_work_among_many_is_decoded_by_its_caller_and_computed_by_a_thread_of_low_priority() {
        crowd();
        int before = niceOfCurrentThread();
        List<Integer> nice = Collections.synchronizedList(new ArrayList<>());
        Observed longer = new Observed(100, 1, 1, LONG) {
            @Override
            public byte[] encode(String output) {
                nice.add(niceOfCurrentThread());
                return super.encode(output);
            }
        };
        longer.under(adaptive);
        assertThat(longer.stages.get("parse")).isSameAs(Thread.currentThread());
        assertThat(longer.stages.get("compute").getName()).startsWith(AdaptiveStrategy.WORKERS);
        assertThat(longer.stages.get("serialize")).isSameAs(longer.stages.get("compute"));
        assertThat(nice).containsExactly(Math.max(5, before));
        assertThat(niceOfCurrentThread()).isEqualTo(before);
        assertThat(adaptive.decided(Decision.LOW_PRIORITY)).isEqualTo(1);
    }

    @Test
    void a_long_body_among_many_is_decoded_at_low_priority_as_well() {
        crowd();
        Observed longer = new Observed(1, 1, 1, 1);
        withBody(longer, LONG_BODY_BYTES);
        assertThat(longer.stages.get("parse").getName()).startsWith(AdaptiveStrategy.WORKERS);
    }

    @Test
    void a_caller_does_not_wait_for_long_work_and_no_more_of_it_runs_than_there_are_cores() {
        crowd();
        List<Observed> all =
                Stream.generate(() -> new Observed(1, 1, 2, LONG)).limit(8).toList();
        List<CompletionStage<byte[]>> answers =
                all.stream().map(it -> it.start(adaptive)).toList();
        await(() -> all.stream().filter(it -> !it.pieces.isEmpty()).count() == CORES);
        laterOn();
        assertThat(new Observed(12, 1, 1, 1).under(adaptive)).containsExactly(1);
        all.forEach(Observed::release);
        answers.forEach(answer -> assertThat(Jobs.answer(answer)).containsExactly(1));
    }

    @Test
    void long_work_whose_client_is_gone_before_its_turn_is_not_run() {
        crowd();
        Observed gone = new Observed(1, 1, 1, LONG);
        int[] asked = {0};
        CompletionStage<byte[]> answer =
                adaptive.execute(gone.job(WorkLimits.NONE, () -> asked[0]++ == 0)); // still there when it is decoded
        assertThatThrownBy(() -> Jobs.answer(answer)).isInstanceOf(AbandonedException.class);
        assertThat(gone.stages).containsOnlyKeys("parse");
    }

    @Test
    void costs_are_learned_from_what_is_done_a_quicker_one_at_once_and_a_slower_one_slowly() {
        LearnedCosts costs = new LearnedCosts(1);
        assertThat(costs.nanos("k", 1000)).isEqualTo(1000);
        costs.learn("k", 19_999, 50_000_000); // interrupted, most likely: it is too short to tell
        assertThat(costs.nanos("k", 1000)).isEqualTo(1000);
        costs.learn("k", 100_000, 400_000);
        assertThat(costs.nanos("k", 1000)).isEqualTo(4000);
        costs.learn("k", 100_000, 200_000);
        assertThat(costs.nanos("k", 1000)).isEqualTo(2000);
        costs.learn("k", 100_000, 100_000 * (2 + 64));
        assertThat(costs.nanos("k", 1000)).isEqualTo(3000);
    }
}
