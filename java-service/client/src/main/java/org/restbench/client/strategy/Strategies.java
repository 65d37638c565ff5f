package org.restbench.client.strategy;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.restbench.client.CallingStrategy;
import org.restbench.client.Calls;
import org.restbench.client.Clock;
import org.restbench.client.Job;
import org.restbench.client.Limits;
import org.restbench.client.Loop;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;
import org.restbench.client.strategy.Plan.ThreadModel;

/** Makes calling strategies by name. The number of threads is from 1 to 1024. */
public final class Strategies {
    private static final int MOST_THREADS = 1024;
    private static final List<Stage> IN = List.of(Stage.S);

    private Strategies() {}

    /** The names of the strategies that this version of Java offers. */
    public static List<String> names() {
        return Stream.of(
                        "sequential", "task-pool", "pipeline", "pipeline-async", "async", "virtual-threads", "adaptive")
                .filter(name -> !name.equals("virtual-threads") || Threads.haveVirtual())
                .toList();
    }

    /** The strategy of this name, with its default number of threads. */
    public static CallingStrategy of(String name, Loop loop) {
        return of(name, defaultThreads(name), loop);
    }

    /** A thread for each core that this JVM may use, but no fewer than the strategy has teams. */
    public static int defaultThreads(String name) {
        return Math.max(Runtime.getRuntime().availableProcessors(), leastThreads(name));
    }

    private static int leastThreads(String name) {
        return switch (name) {
            case "pipeline" -> 4;
            case "pipeline-async" -> 3;
            default -> 1;
        };
    }

    /** The strategy of this name, with the default sizes of its teams. */
    public static CallingStrategy of(String name, int threads, Loop loop) {
        return of(name, threads, null, Map.of(), loop);
    }

    /**
     * The strategy of this name.
     *
     * @param threads number of threads in all; ignored by {@code sequential} and {@code virtual-threads}
     * @param teams threads of each team: S, C, D, P for {@code pipeline}; S, D, P for {@code pipeline-async}; null for
     *     default sizes that add up to {@code threads}
     * @param cpu CPU seconds by stage of earlier calls: by default S and D share the threads of {@code pipeline-async}
     *     in this proportion; may be empty
     * @throws IllegalArgumentException where an option is wrong, with its name and range
     */
    public static CallingStrategy of(String name, int threads, List<Integer> teams, Map<Stage, Double> cpu, Loop loop) {
        if (!names().contains(name)) {
            throw new IllegalArgumentException("strategy: must be one of " + names() + ", is " + name);
        }
        Plan plan = switch (name) {
            case "sequential" -> new Plan(ThreadModel.CALLER, loop, new Team("caller", 1, IN));
            case "task-pool" -> new Plan(ThreadModel.POOL_THREAD, loop, new Team("call-pool", checked(threads), IN));
            case "pipeline" -> {
                List<Integer> sizes = teams == null ? List.of(1, 1 + further(threads, name), 1, 1) : teams;
                yield new Plan(ThreadModel.STAGES, loop, teams(sizes, Stage.values()));
            }
            case "pipeline-async" -> {
                List<Integer> sizes = teams == null ? usualAsync(threads, cpu) : teams;
                yield new Plan(ThreadModel.ASYNC, loop, teams(sizes, Stage.S, Stage.D, Stage.P));
            }
            case "async", "adaptive" -> {
                Team ofAnyCall = new Team("call-cpu", checked(threads), List.of(Stage.P, Stage.D, Stage.S));
                yield new Plan(ThreadModel.ASYNC, List.of(ofAnyCall), name.equals("adaptive"), loop, Clock.SYSTEM);
            }
            case "virtual-threads" -> {
                int cores = Runtime.getRuntime().availableProcessors();
                yield new Plan(ThreadModel.VIRTUAL, loop, new Team("virtual", cores, IN));
            }
            default -> throw new IllegalStateException("no plan of " + name);
        };
        return started(plan);
    }

    /** The same strategy under another clock, for tests. */
    public static CallingStrategy withClock(CallingStrategy strategy, Clock clock) {
        Plan plan = ((StartedStrategy) strategy).plan;
        return started(new Plan(plan.threadModel(), plan.teams(), plan.adapts(), plan.loop(), clock));
    }

    private static Team[] teams(List<Integer> sizes, Stage... stages) {
        if (sizes.size() != stages.length) {
            throw new IllegalArgumentException("teams: must be " + stages.length + " numbers, are " + sizes);
        }
        sizes.forEach(size -> Limits.within("teams", size, MOST_THREADS));
        return IntStream.range(0, stages.length)
                .mapToObj(i -> new Team("call-" + stages[i], sizes.get(i), List.of(stages[i])))
                .toArray(Team[]::new);
    }

    private static List<Integer> usualAsync(int threads, Map<Stage, Double> cpu) {
        double s = cpu.getOrDefault(Stage.S, 0.0);
        double d = cpu.getOrDefault(Stage.D, 0.0);
        int further = further(threads, "pipeline-async");
        int toS = (int) Math.round(further * (s + d > 0 ? s / (s + d) : 0.5));
        return List.of(1 + toS, 1 + further - toS, 1);
    }

    /** Threads that are left when each team has one. */
    private static int further(int threads, String name) {
        int least = leastThreads(name);
        if (checked(threads) < least) {
            throw new IllegalArgumentException(
                    "threads: must be from " + least + " to " + MOST_THREADS + " for " + name + ", is " + threads);
        }
        return threads - least;
    }

    private static int checked(int threads) {
        return Limits.within("threads", threads, MOST_THREADS);
    }

    private static CallingStrategy started(Plan plan) {
        return new StartedStrategy(plan, ConcurrentHashMap.newKeySet());
    }

    private record StartedStrategy(Plan plan, Set<Batch<?, ?, ?>> underWay) implements CallingStrategy {
        @Override
        public <I, O, R> Calls<R> start(Iterator<? extends I> inputs, Job<I, O, R> job, Limits limits) {
            Batch<I, O, R> batch = new Batch<>(inputs, job, limits, plan, underWay::remove);
            underWay.add(batch);
            batch.begin();
            return batch;
        }

        @Override
        public void close() {
            Batch.close(List.copyOf(underWay));
        }
    }
}
