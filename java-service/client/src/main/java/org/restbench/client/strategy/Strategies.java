package org.restbench.client.strategy;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.restbench.client.CallingStrategy;
import org.restbench.client.Calls;
import org.restbench.client.Clock;
import org.restbench.client.Job;
import org.restbench.client.Limits;
import org.restbench.client.Loop;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;
import org.restbench.client.strategy.Plan.Way;

/** The ways of making many calls. Threads are counted from 1 to 1024. */
public final class Strategies {
    private static final int MOST_THREADS = 1024;
    private static final int FEWEST_OF_PIPELINE = 4;
    private static final int FEWEST_OF_ASYNC_PIPELINE = 3;

    private Strategies() {}

    /** The names that this Java offers. */
    public static List<String> names() {
        return Stream.of(
                        "sequential", "task-pool", "pipeline", "pipeline-async", "async", "virtual-threads", "adaptive")
                .filter(name -> !name.equals("virtual-threads") || Threads.haveVirtual())
                .toList();
    }

    /**
     * The strategy of a name.
     *
     * @param threads in all; ignored by {@code sequential} and {@code virtual-threads}
     * @param teams of the pipelines, S:C:D:P or S:D:P; null for the usual ones of that many threads
     * @param cpu seconds by stage of calls made before, which say whether S or D needs the further threads of
     *     {@code pipeline-async}; may be empty
     * @throws IllegalArgumentException with the name and the range
     */
    public static CallingStrategy of(String name, int threads, List<Integer> teams, Map<Stage, Double> cpu, Loop loop) {
        return switch (name) {
            case "sequential" -> sequential();
            case "task-pool" -> taskPool(threads, loop);
            case "pipeline" -> pipeline(teams == null ? pipelineTeams(threads) : teams, loop);
            case "pipeline-async" -> pipelineAsync(teams == null ? asyncTeams(threads, cpu) : teams, loop);
            case "async" -> async(threads, loop);
            case "virtual-threads" -> virtualThreads();
            case "adaptive" -> adaptive(threads, loop);
            default -> throw new IllegalArgumentException("strategy: must be one of " + names() + ", is " + name);
        };
    }

    /** The thread that takes the outcomes makes one call after the other. */
    public static CallingStrategy sequential() {
        return started(new Plan("sequential", Way.CALLER, 1, Loop.IN_ORDER, new Team("caller", 1, Stage.S)));
    }

    /** Each thread takes the next input and makes its call from start to end. */
    public static CallingStrategy taskPool(int threads, Loop loop) {
        return started(new Plan("task-pool", Way.THROUGH, 1, loop, new Team("call-pool", checked(threads), Stage.S)));
    }

    /** A team for each of S, C, D and P. */
    public static CallingStrategy pipeline(List<Integer> teams, Loop loop) {
        return started(new Plan("pipeline", Way.STAGES, ofSize(teams, 4).get(3), loop, teams(teams, Stage.values())));
    }

    /** A team for each of S, D and P; C holds no thread. */
    public static CallingStrategy pipelineAsync(List<Integer> teams, Loop loop) {
        Team[] stages = teams(ofSize(teams, 3), Stage.S, Stage.D, Stage.P);
        return started(new Plan("pipeline-async", Way.STARTED, teams.get(2), loop, stages));
    }

    /** One team for S, D and P of any call; C holds no thread. */
    public static CallingStrategy async(int threads, Loop loop) {
        return started(mixed("async", threads, loop));
    }

    /** As {@code async}; the number of calls in flight follows what the service and the cores can do. */
    public static CallingStrategy adaptive(int threads, Loop loop) {
        return started(mixed("adaptive", threads, loop).adapting());
    }

    /** A virtual thread a call. */
    public static CallingStrategy virtualThreads() {
        if (!Threads.haveVirtual()) {
            throw new IllegalArgumentException("virtual-threads: not offered before Java 21");
        }
        int cores = Runtime.getRuntime().availableProcessors();
        return started(new Plan("virtual-threads", Way.VIRTUAL, 1, Loop.IN_ORDER, new Team("virtual", cores, Stage.S)));
    }

    /** The same strategy under another clock, for tests. */
    public static CallingStrategy withClock(CallingStrategy strategy, Clock clock) {
        return started(((Started) strategy).plan.with(clock));
    }

    private static Plan mixed(String name, int threads, Loop loop) {
        Team team = new Team("call-cpu", checked(threads), Stage.P, Stage.D, Stage.S);
        return new Plan(name, Way.STARTED, 1, loop, team);
    }

    private static List<Integer> pipelineTeams(int threads) {
        atLeast(FEWEST_OF_PIPELINE, threads, "pipeline");
        return List.of(1, threads - 3, 1, 1);
    }

    private static List<Integer> asyncTeams(int threads, Map<Stage, Double> cpu) {
        atLeast(FEWEST_OF_ASYNC_PIPELINE, threads, "pipeline-async");
        double s = cpu.getOrDefault(Stage.S, 0.0);
        double d = cpu.getOrDefault(Stage.D, 0.0);
        int further = threads - FEWEST_OF_ASYNC_PIPELINE;
        int toS = (int) Math.round(further * (s + d > 0 ? s / (s + d) : 0.5));
        return List.of(1 + toS, 1 + further - toS, 1);
    }

    private static Team[] teams(List<Integer> threads, Stage... stages) {
        Team[] teams = new Team[stages.length];
        for (int i = 0; i < stages.length; i++) {
            teams[i] = new Team(stages[i], threads.get(i));
        }
        return teams;
    }

    private static List<Integer> ofSize(List<Integer> teams, int size) {
        if (teams.size() != size) {
            throw new IllegalArgumentException("teams: must be " + size + " numbers, are " + teams);
        }
        teams.forEach(each -> Limits.within("teams", each, MOST_THREADS));
        return teams;
    }

    private static void atLeast(int fewest, int threads, String name) {
        if (checked(threads) < fewest) {
            throw new IllegalArgumentException(
                    "threads: must be from " + fewest + " to " + MOST_THREADS + " for " + name + ", is " + threads);
        }
    }

    private static int checked(int threads) {
        return Limits.within("threads", threads, MOST_THREADS);
    }

    private static CallingStrategy started(Plan plan) {
        return new Started(plan, ConcurrentHashMap.newKeySet());
    }

    private record Started(Plan plan, Set<Calls<?>> underWay) implements CallingStrategy {
        @Override
        public String name() {
            return plan.name();
        }

        @Override
        public <I, O, R> Calls<R> start(Iterator<? extends I> inputs, Job<I, O, R> job, Limits limits) {
            Batch<I, O, R> batch = new Batch<>(inputs, job, limits, plan, underWay::remove);
            underWay.add(batch);
            batch.begin();
            return batch;
        }

        @Override
        public void close() {
            underWay.forEach(Calls::close);
        }
    }
}
