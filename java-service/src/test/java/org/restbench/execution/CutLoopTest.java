package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.restbench.workload.ParallelLoop;

/** A loop on several threads: every unit once, nothing left behind, and the owner waits for exactly what runs. */
@Timeout(60)
class CutLoopTest {
    private static List<Thread> help(CutLoop loop, int helpers) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < helpers; i++) {
            Thread helper = new Thread(loop::work);
            helper.start();
            threads.add(helper);
        }
        return threads;
    }

    @Test
    void every_unit_is_run_once_however_many_help() {
        for (int units : new int[] {1, 2, 7, 1000, 99_991}) {
            for (int unitsPerTask : new int[] {1, 3, 1000}) {
                AtomicIntegerArray runs = new AtomicIntegerArray(units);
                CutLoop loop = new CutLoop(units, unitsPerTask, 4, (from, to) -> {
                    for (int unit = from; unit < to; unit++) {
                        runs.incrementAndGet(unit);
                    }
                });
                help(loop, 3);
                loop.run();
                for (int unit = 0; unit < units; unit++) {
                    assertThat(runs.get(unit)).isEqualTo(1);
                }
            }
        }
    }

    @Test
    void there_is_a_piece_of_whole_tasks_for_each_worker() {
        List<List<Integer>> pieces = new ArrayList<>();
        new CutLoop(1001, 2, 4, (from, to) -> pieces.add(List.of(from, to))).run();
        assertThat(pieces).containsExactly(List.of(0, 252), List.of(252, 504), List.of(504, 756), List.of(756, 1001));
    }

    @Test
    void there_is_a_place_for_each_helper_and_for_none_with_one_worker_or_one_task() {
        CutLoop loop = new CutLoop(10, 1, 3, (from, to) -> {});
        assertThat(loop.places()).isEqualTo(2);
        assertThat(List.of(loop.join(), loop.join(), loop.join())).containsExactly(true, true, false);
        assertThat(new CutLoop(10, 1, 1, (from, to) -> {}).join()).isFalse();
        assertThat(new CutLoop(10, 10, 3, (from, to) -> {}).join()).isFalse();
    }

    @Test
    void there_is_no_place_at_a_loop_with_nothing_left() {
        CutLoop loop = new CutLoop(10, 1, 3, (from, to) -> {});
        loop.run();
        assertThat(loop.join()).isFalse();
        assertThat(loop.places()).isEqualTo(2);
    }

    @Test
    void the_largest_loop_there_can_be_is_cut_without_overflow() {
        List<int[]> pieces = new ArrayList<>();
        ParallelLoop.Body body = (from, to) -> pieces.add(new int[] {from, to});
        new CutLoop(Integer.MAX_VALUE, 1 << 30, 2, body).run();
        assertThat(pieces).containsExactly(new int[] {0, 1 << 30}, new int[] {1 << 30, Integer.MAX_VALUE});
    }

    @Test
    void the_owner_waits_for_a_piece_that_a_helper_is_at_even_when_interrupted() throws InterruptedException {
        Thread owner = Thread.currentThread();
        CountDownLatch helperIn = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        CutLoop loop = new CutLoop(2, 1, 2, (from, to) -> {
            if (Thread.currentThread() == owner) {
                awaitUninterrupted(helperIn);
                owner.interrupt();
            } else {
                helperIn.countDown();
                while (!ownerWaits(owner)) {
                    Thread.onSpinWait();
                }
            }
            done.incrementAndGet();
        });
        help(loop, 1);
        loop.run();
        assertThat(done).hasValue(2);
        assertThat(loop.helped()).isTrue();
        assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
    }

    private static boolean ownerWaits(Thread owner) {
        return owner.getState() == Thread.State.WAITING;
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertThat(latch.await(50, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @Test
    void what_a_helper_throws_is_thrown_by_the_owner_and_the_rest_is_left_undone() {
        Thread owner = Thread.currentThread();
        ArithmeticException thrown = new ArithmeticException("x");
        AtomicInteger pieces = new AtomicInteger();
        AtomicReference<CutLoop> failing = new AtomicReference<>();
        CutLoop loop = new CutLoop(1000, 1, 4, (from, to) -> {
            pieces.incrementAndGet();
            if (Thread.currentThread() != owner) {
                throw thrown;
            }
            awaitNothingLeft(failing.get());
        });
        failing.set(loop);
        help(loop, 1);
        assertThatThrownBy(loop::run).isSameAs(thrown);
        assertThat(loop.left()).isFalse();
        assertThat(pieces.get()).isBetween(1, 2);
    }

    private static void awaitNothingLeft(CutLoop loop) {
        long start = System.nanoTime();
        while (loop.left()) {
            assertThat(System.nanoTime() - start).as("ns of waiting").isLessThan(TimeUnit.SECONDS.toNanos(50));
            Thread.onSpinWait();
        }
    }

    @Test
    void a_helper_that_comes_too_late_finds_nothing_and_nobody_waits_for_it() {
        List<Thread> ran = new ArrayList<>();
        CutLoop loop = new CutLoop(10, 1, 2, (from, to) -> ran.add(Thread.currentThread()));
        loop.run();
        loop.work();
        assertThat(ran).containsOnly(Thread.currentThread());
        assertThat(loop.helped()).isFalse();
    }
}
