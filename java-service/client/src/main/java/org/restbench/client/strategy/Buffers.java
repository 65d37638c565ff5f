package org.restbench.client.strategy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;

/**
 * What waits before C, D and P, and whom its coming wakes. A call that finds its buffer full is put there all the same,
 * and keeps its place in the stage before. All methods are called with the batch's lock.
 */
final class Buffers<I, O, R> {
    private final Map<Stage, Deque<Call<I, O, R>>> waiting = new EnumMap<>(Stage.class);
    /** What the threads that run a stage wait on; one condition for all the stages of a team. */
    private final Map<Stage, Condition> work = new EnumMap<>(Stage.class);

    private final Map<Stage, Integer> peaks = new EnumMap<>(Stage.class);
    /** Calls whose turn to be sent again has come: they go before those that were never sent. */
    private final Deque<Call<I, O, R>> again = new ArrayDeque<>();

    private final int queue;

    Buffers(Plan plan, int queue, ReentrantLock lock) {
        this.queue = queue;
        for (Stage stage : Stage.values()) {
            waiting.put(stage, new ArrayDeque<>());
            work.put(stage, lock.newCondition());
            peaks.put(stage, 0);
        }
        for (Team team : plan.teams()) {
            Condition own = lock.newCondition();
            team.stages().forEach(stage -> work.put(stage, own));
        }
    }

    /** Waits until there may be something to do in a stage, or in another one of its team. */
    void await(Stage stage) {
        work.get(stage).awaitUninterruptibly();
    }

    void signal(Stage stage) {
        work.get(stage).signal();
    }

    void signalAll() {
        work.values().forEach(Condition::signalAll);
    }

    void add(Stage stage, Call<I, O, R> call) {
        Deque<Call<I, O, R>> buffer = waiting.get(stage);
        buffer.add(call);
        peaks.merge(stage, Math.min(buffer.size(), queue), Math::max);
        signal(stage);
    }

    void addAgain(Call<I, O, R> call) {
        again.add(call);
        signal(Stage.C);
    }

    Call<I, O, R> poll(Stage stage) {
        if (stage == Stage.C && !again.isEmpty()) {
            return again.poll();
        }
        if (overflow(stage) > 0) {
            signal(stage.before());
        }
        return waiting.get(stage).poll();
    }

    boolean isEmpty(Stage stage) {
        return size(stage) == 0;
    }

    int size(Stage stage) {
        return waiting.get(stage).size() + (stage == Stage.C ? again.size() : 0);
    }

    /** Calls beyond a buffer's bound: each has its place in the stage before until there is room. */
    int overflow(Stage stage) {
        return Math.max(0, waiting.get(stage).size() - queue);
    }

    /** All that wait, which no longer do. */
    List<Call<I, O, R>> clear() {
        List<Call<I, O, R>> all = new ArrayList<>(again);
        again.clear();
        waiting.values().forEach(buffer -> {
            all.addAll(buffer);
            buffer.clear();
        });
        return all;
    }

    Map<Stage, Integer> peaks() {
        return new EnumMap<>(peaks);
    }
}
