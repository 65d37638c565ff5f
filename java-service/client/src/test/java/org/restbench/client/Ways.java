package org.restbench.client;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.restbench.client.strategy.Strategies;

/** Random batches under every strategy, of whole numbers and their text. */
final class Ways {
    private static final int[] SIZES = {0, 1, 2, 3, 17, 200};

    private Ways() {}

    /** One batch. */
    record Way(String name, int threads, List<Integer> teams, int calls, Limits limits, int seed) {
        CallingStrategy strategy() {
            return Strategies.of(name, threads, teams, Map.of(), Loop.IN_ORDER);
        }

        CallingStrategy strategy(Clock clock) {
            return Strategies.withClock(strategy(), clock);
        }

        /** Calls that can be with the service at once, of {@code adaptive} while its clock stands still. */
        int inExchange() {
            int window = limits.inFlight();
            return switch (name) {
                case "sequential" -> 1;
                case "task-pool" -> Math.min(threads, window);
                case "pipeline" -> Math.min(teams.get(1), window);
                case "adaptive" -> Math.min(2 * Runtime.getRuntime().availableProcessors(), window);
                default -> window;
            };
        }

        /** How many a service may wait for before it answers: in order those that are early keep others from it. */
        int surelyInExchange() {
            return limits.ordered() && !name.equals("task-pool") ? 1 : inExchange();
        }

        /** Of inputs that are ahead of the outcomes taken. */
        int mostAhead() {
            int all = switch (name) {
                case "sequential" -> 1;
                case "virtual-threads" -> Runtime.getRuntime().availableProcessors();
                default ->
                    teams == null
                            ? threads
                            : teams.stream().mapToInt(Integer::intValue).sum();
            };
            return all + limits.inFlight() + 4 * limits.queue();
        }

        Iterator<Integer> inputs() {
            return IntStream.range(0, calls).iterator();
        }

        <R> Calls<R> start(CallingStrategy strategy, Exchange exchange, Job.Processor<Integer, Integer, R> process) {
            return strategy.start(inputs(), new Job<>(new Numbers(), exchange, process), limits);
        }
    }

    static Stream<Way> random(int each, int seed) {
        Random random = new Random(seed);
        List<Way> ways = new ArrayList<>();
        for (String name : Strategies.names()) {
            for (int i = 0; i < each; i++) {
                ways.add(one(name, random));
            }
        }
        return ways.stream();
    }

    /** One with 50 calls for each strategy. */
    static Stream<Way> each() {
        Random random = new Random(5);
        return Strategies.names().stream().map(name -> {
            Way way = one(name, random);
            return new Way(name, way.threads, way.teams, 50, way.limits.withInFlight(4), 5);
        });
    }

    private static Way one(String name, Random random) {
        int calls = SIZES[random.nextInt(SIZES.length)];
        List<Integer> teams = switch (name) {
            case "pipeline" -> List.of(upTo(random, 2), upTo(random, 6), upTo(random, 2), upTo(random, 2));
            case "pipeline-async" -> List.of(upTo(random, 2), upTo(random, 2), upTo(random, 2));
            default -> null;
        };
        Limits limits = new Limits(
                upTo(random, 20),
                upTo(random, 4),
                Duration.ofSeconds(60),
                null,
                Limits.DEFAULT.maxAnswerBytes(),
                Retries.NONE,
                random.nextBoolean());
        return new Way(name, upTo(random, 8), teams, calls, limits, random.nextInt());
    }

    private static int upTo(Random random, int most) {
        return 1 + random.nextInt(most);
    }

    /** A number as its text; an answer of another status is the code of a refusal. */
    static class Numbers implements Codec<Integer, Integer> {
        @Override
        public byte[] encode(Integer input, Loop loop) {
            return input.toString().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Integer decode(Answer answer, Loop loop) throws ServiceRefused {
            String text = new String(answer.body(), StandardCharsets.UTF_8);
            if (answer.status() != 200) {
                throw new ServiceRefused(answer.status(), text, "refused", null);
            }
            try {
                return Integer.valueOf(text);
            } catch (NumberFormatException malformed) {
                throw new MalformedAnswer("no number", malformed);
            }
        }
    }

    /** Of numbers, whose results are their outputs. */
    static Job<Integer, Integer, Integer> job(Exchange exchange) {
        return new Job<>(new Numbers(), exchange, (index, input, output) -> output);
    }

    /** All that are left, on a thread that nobody interrupts. */
    static List<Outcome<Integer>> all(Calls<Integer> calls) {
        try {
            return calls.all();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    /** Waits until something is so, and fails after a minute. */
    static void until(java.util.function.BooleanSupplier isSo, String what) throws InterruptedException {
        long begun = System.nanoTime();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - begun > 60e9) {
                throw new AssertionError("never: " + what);
            }
            Thread.sleep(1);
        }
    }

    /** Names of the threads that strategies make, of those that live, as the kernel sees them. */
    static List<String> threads() {
        File[] tasks = new File("/proc/self/task").listFiles();
        return Stream.of(tasks == null ? new File[0] : tasks)
                .map(task -> name(task.toPath().resolve("comm")))
                .filter(name -> name.startsWith("call-"))
                .toList();
    }

    private static String name(Path comm) {
        try {
            return Files.readString(comm).strip();
        } catch (IOException gone) {
            return "";
        }
    }
}
