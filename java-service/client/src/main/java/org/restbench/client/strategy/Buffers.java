package org.restbench.client.strategy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;

/** What waits before C, D and P, and whom its coming wakes. All methods are called with the batch's lock. */
final class Buffers<I, O, R> {
    private final Map<Stage, Deque<Call<I, O, R>>> waiting = new EnumMap<>(Stage.class);
    private final Map<Stage, Condition> room = new EnumMap<>(Stage.class);
    private final Map<Stage, Condition> work = new EnumMap<>(Stage.class);
    private final Map<Stage, Integer> peaks = new EnumMap<>(Stage.class);
    /** Calls whose turn to be sent again has come: they go before those that were never sent. */
    private final Deque<Call<I, O, R>> again = new ArrayDeque<>();

    private final List<Condition> others = new ArrayList<>();
    private final ReentrantLock lock;
    private final int queue;

    Buffers(Plan plan, int queue, ReentrantLock lock) {
        this.queue = queue;
        this.lock = lock;
        Map<Team, Condition> byTeam = new HashMap<>();
        for (Stage stage : Stage.values()) {
            waiting.put(stage, new ArrayDeque<>());
            room.put(stage, lock.newCondition());
            peaks.put(stage, 0);
            work.put(stage, lock.newCondition());
            plan.teams().stream()
                    .filter(team -> team.stages().contains(stage))
                    .forEach(team -> work.put(stage, byTeam.computeIfAbsent(team, any -> lock.newCondition())));
        }
    }

    /** What the threads that run a stage wait on; one condition for all the stages of a team. */
    Condition work(Stage stage) {
        return work.get(stage);
    }

    void signal(Stage stage) {
        work.get(stage).signal();
    }

    /** Another condition that the batch's end wakes. */
    Condition condition() {
        Condition other = lock.newCondition();
        others.add(other);
        return other;
    }

    void signalAll() {
        others.forEach(Condition::signalAll);
        work.values().forEach(Condition::signalAll);
        room.values().forEach(Condition::signalAll);
    }

    boolean hasRoom(Stage stage) {
        return waiting.get(stage).size() < queue;
    }

    /** Tells who waits for a place before a stage. */
    Condition room(Stage stage) {
        return room.get(stage);
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

    /** Null where nothing waits. */
    Call<I, O, R> poll(Stage stage) {
        if (stage == Stage.C && !again.isEmpty()) {
            return again.poll();
        }
        Call<I, O, R> call = waiting.get(stage).poll();
        if (call != null) {
            room.get(stage).signal();
        }
        return call;
    }

    boolean isEmpty(Stage stage) {
        return size(stage) == 0;
    }

    int size(Stage stage) {
        return waiting.get(stage).size() + (stage == Stage.C ? again.size() : 0);
    }

    /** Messages before C that were never sent. */
    int encoded() {
        return waiting.get(Stage.C).size();
    }

    /** Answers beyond the buffer before D: each keeps its place in flight until there is room. */
    int overflow() {
        return Math.max(0, waiting.get(Stage.D).size() - queue);
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
