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
 * The buffers before the stages C, D and P, and the conditions on which the threads of the stages wait. The buffer of S
 * holds the calls that have ended, until they are taken. A call that finds its buffer full is added all the same, and
 * keeps its place in the previous stage. All methods are called with the batch's lock.
 */
final class Buffers<I, O, R> {
    private final Map<Stage, Deque<Call<I, O, R>>> waiting = new EnumMap<>(Stage.class);
    /** The condition on which the threads of each stage wait; all stages of a team share one. */
    private final Map<Stage, Condition> work = new EnumMap<>(Stage.class);

    private final Map<Stage, Integer> peaks = new EnumMap<>(Stage.class);
    private final Limits limits;
    /** By index, calls that ended before one with a lower index; only where outcomes come in input order. */
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

    /** Waits until there may be work in a stage, or in another stage of the same team. */
    void await(Stage stage) {
        work.get(stage).awaitUninterruptibly();
    }

    void signal(Stage stage) {
        work.get(stage).signal();
    }

    void signalAll() {
        work.values().forEach(Condition::signalAll);
    }

    /** Adds a call to a stage's buffer. A call that is sent again goes before the calls that were never sent. */
    void add(Stage stage, Call<I, O, R> call) {
        if (stage == Stage.C && call.attempts > 0) {
            waiting.get(stage).addFirst(call);
        } else {
            waiting.get(stage).addLast(call);
        }
        added(stage);
        signal(stage);
    }

    /** Adds a call that has ended, to be taken in the order of ending or in the order of the inputs. */
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

    int size(Stage stage) {
        return waiting.get(stage).size();
    }

    /**
     * Number of calls beyond a buffer's bound: each keeps its place in the previous stage until there is room. Ended
     * calls that are taken in the order of the inputs have no bound: a call that waited for room would block the
     * earlier calls for which it waits.
     */
    int overflow(Stage stage) {
        boolean isBound = stage != Stage.S || !limits.ordered();
        return isBound ? Math.max(0, size(stage) - limits.queue()) : 0;
    }

    /** Empties the buffers before C, D and P and returns their calls. */
    List<Call<I, O, R>> clear() {
        List<Call<I, O, R>> all = new ArrayList<>();
        for (Stage stage : EnumSet.range(Stage.C, Stage.P)) {
            all.addAll(waiting.get(stage));
            waiting.get(stage).clear();
        }
        return all;
    }

    /** Largest number of calls in each stage's buffer, overflow not included. */
    Map<Stage, Integer> peaks() {
        return new EnumMap<>(peaks);
    }
}
