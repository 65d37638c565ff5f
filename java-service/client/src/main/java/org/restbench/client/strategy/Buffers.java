package org.restbench.client.strategy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.restbench.client.Limits;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;

/**
 * What waits before C, D and P, and whom its coming wakes; before S wait the calls that ended, until they are taken. A
 * call that finds its buffer full is put there all the same, and keeps its place in the stage before. All methods are
 * called with the batch's lock.
 */
final class Buffers<I, O, R> {
    private final Map<Stage, Deque<Call<I, O, R>>> waiting = new EnumMap<>(Stage.class);
    /** What the threads that run a stage wait on; one condition for all the stages of a team. */
    private final Map<Stage, Condition> work = new EnumMap<>(Stage.class);

    private final Map<Stage, Integer> peaks = new EnumMap<>(Stage.class);
    private final Limits limits;
    /** In order: calls that ended before their turn, by index. */
    private final Map<Long, Call<I, O, R>> early = new HashMap<>();

    private long turn;

    Buffers(Plan plan, Limits limits, ReentrantLock lock) {
        this.limits = limits;
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

    /** One that was sent before goes before those that never were. */
    void add(Stage stage, Call<I, O, R> call) {
        if (stage == Stage.C && call.attempts > 0) {
            waiting.get(stage).addFirst(call);
        } else {
            waiting.get(stage).addLast(call);
        }
        added(stage);
        signal(stage);
    }

    /** A call that ended: to be taken as it comes, or in its turn. */
    void addEnded(Call<I, O, R> call) {
        if (!limits.ordered()) {
            waiting.get(Stage.S).add(call);
        } else {
            early.put(call.index, call);
            for (Call<I, O, R> next = early.remove(turn); next != null; next = early.remove(turn)) {
                waiting.get(Stage.S).add(next);
                turn++;
            }
        }
        added(Stage.S);
    }

    private void added(Stage stage) {
        peaks.merge(stage, size(stage) - overflow(stage), Math::max);
    }

    Call<I, O, R> poll(Stage stage) {
        if (overflow(stage) > 0) {
            signal(stage.before());
        }
        return waiting.get(stage).poll();
    }

    boolean isEmpty(Stage stage) {
        return size(stage) == 0;
    }

    int size(Stage stage) {
        return waiting.get(stage).size();
    }

    /**
     * Calls beyond a buffer's bound: each has its place in the stage before until there is room. Of those that ended in
     * order there is none: one that has to wait would hold up those that it waits for.
     */
    int overflow(Stage stage) {
        boolean isBound = stage != Stage.S || !limits.ordered();
        return isBound ? Math.max(0, size(stage) - limits.queue()) : 0;
    }

    /** All that wait for a stage, which no longer do. */
    List<Call<I, O, R>> clear() {
        List<Call<I, O, R>> all = new ArrayList<>();
        for (Stage stage : EnumSet.range(Stage.C, Stage.P)) {
            all.addAll(waiting.get(stage));
            waiting.get(stage).clear();
        }
        return all;
    }

    /** Most at once before each stage. */
    Map<Stage, Integer> peaks() {
        return new EnumMap<>(peaks);
    }
}
