package org.restbench.client.calls;

import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.restbench.client.Answer;
import org.restbench.client.CallingStrategy;
import org.restbench.client.Calls;
import org.restbench.client.Calls.Totals;
import org.restbench.client.Codec;
import org.restbench.client.Exchange;
import org.restbench.client.Job;
import org.restbench.client.Loop;
import org.restbench.client.Outcome;
import org.restbench.client.ServiceRefused;
import org.restbench.client.Stage;
import org.restbench.client.codec.Matrix;
import org.restbench.client.codec.NpbResult;
import org.restbench.client.http.HttpExchange;
import org.restbench.client.strategy.Strategies;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs batches one after the other; connections and inputs are kept between them. */
final class Runner implements AutoCloseable {
    private static final Map<String, Map<String, String>> HEADERS = Map.of(
            "rest", Map.of("Content-Type", "application/json"),
            "soap", Map.of("Content-Type", "text/xml; charset=utf-8", "SOAPAction", "\"\""));

    /** The strategies that can call a CXF proxy, which holds its thread. */
    private static final List<String> HOLDING = List.of("sequential", "task-pool");

    private final JsonMapper json;
    private final Map<List<Object>, Exchange> proxies = new HashMap<>();
    private final Map<String, HttpExchange> connected = new HashMap<>(); // by host and port
    private final Map<Path, Elements> read = new HashMap<>();
    /** CPU seconds by stage of the previous batch: {@code pipeline-async} shares its threads in this proportion. */
    private Map<Stage, Double> cpuBefore = new EnumMap<>(Stage.class);

    private volatile Calls<?> underWay;

    Runner(JsonMapper json) {
        this.json = json;
    }

    /** The elements of a file. {@code version} identifies the file's content and the workload for which it was read. */
    private record Elements(Object version, List<?> all) {}

    /** What this process has used since it began, in seconds. */
    private record Usage(double cpuSeconds, double compileSeconds, double gcSeconds) {
        static Usage now() {
            var system = ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
            var compiler = ManagementFactory.getCompilationMXBean();
            double gcMillis = ManagementFactory.getGarbageCollectorMXBeans().stream()
                    .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                    .sum();
            return new Usage(
                    system.getProcessCpuTime() / 1e9,
                    compiler == null ? 0 : compiler.getTotalCompilationTime() / 1e3,
                    gcMillis / 1e3);
        }
    }

    /** An output with the status and the Server-Timing of its answer. */
    private record OutputWithHead<O>(O output, int status, String serverTiming) {}

    /** The result of P: whether the output is wrong, and what the log shows of it. */
    record CheckResult(boolean isWrong, int status, String serverTiming, NpbResult shown) {}

    /** @throws IllegalArgumentException where an option is wrong, with its name and range */
    Map<String, Object> run(Options options) throws IOException, InterruptedException {
        return run(options, Workload.of(options.workload()));
    }

    private <I, O> Map<String, Object> run(Options options, Workload<I, O> workload)
            throws IOException, InterruptedException {
        List<I> inputs = file(options.inputs(), workload.input());
        List<Matrix> expected = options.expected() == null ? List.of() : file(options.expected(), Workload.EXPECTED);
        if (inputs.isEmpty()) {
            throw new IllegalArgumentException("inputs: must be a list of at least 1, is empty");
        }
        Iterator<I> each = IntStream.range(0, options.size())
                .map(options::index)
                .mapToObj(index -> workload.withId().apply(inputs.get(index % inputs.size()), "call-" + index))
                .iterator();
        AtomicInteger atOnce = new AtomicInteger();
        Loop team = Loop.team(options.loopThreads());
        Loop loop = options.loopThreads() == 1 ? team : counting(team, atOnce);
        Job<I, OutputWithHead<O>, CheckResult> job =
                new Job<>(keeping(codec(options, workload)), exchange(options, workload), (call, input, kept) -> {
                    int index = options.index(call);
                    Matrix right = expected.isEmpty() ? null : expected.get(index % expected.size());
                    boolean isRight = workload.id().apply(kept.output()).equals("call-" + index)
                            && workload.isRight().test(kept.output(), right);
                    NpbResult shown = workload.shown().apply(kept.output());
                    return new CheckResult(!isRight, kept.status(), kept.serverTiming(), shown);
                });
        var limits = options.limits();
        try (CallingStrategy strategy =
                        Strategies.of(options.strategy(), options.threads(), options.teams(), cpuBefore, loop);
                BufferedWriter log = log(options.log())) {
            Usage before = Usage.now();
            try (Calls<CheckResult> calls = strategy.start(each, job, limits)) {
                underWay = calls;
                Tally tally = new Tally();
                for (Outcome<CheckResult> next = calls.take(); next != null; next = calls.take()) {
                    tally.add(next);
                    if (log != null) {
                        log.write(json.writeValueAsString(Line.of(next, options.index(next.index()))));
                        log.write('\n');
                        log.flush();
                    }
                }
                Totals totals = calls.totals();
                cpuBefore = totals.cpu();
                Map<String, Integer> threads = new TreeMap<>(totals.peakThreads());
                if (loop != team) {
                    threads.put("loop", atOnce.get());
                }
                return tally.summary(totals, threads, before, Usage.now());
            }
        }
    }

    /** The same loop; {@code most} becomes the largest number of threads that ran the elements of one document. */
    private static Loop counting(Loop team, AtomicInteger most) {
        return (count, body) -> {
            Set<Thread> own = ConcurrentHashMap.newKeySet();
            team.forEach(count, element -> {
                own.add(Thread.currentThread());
                body.accept(element);
            });
            most.accumulateAndGet(own.size(), Math::max);
        };
    }

    private static <I, O> Codec<I, OutputWithHead<O>> keeping(Codec<I, O> codec) {
        return new Codec<>() {
            @Override
            public byte[] encode(I input, Loop loop) {
                return codec.encode(input, loop);
            }

            @Override
            public OutputWithHead<O> decode(Answer answer, Loop loop) throws ServiceRefused {
                O output = codec.decode(answer, loop);
                return new OutputWithHead<>(
                        output, answer.status(), answer.header("server-timing").orElse(null));
            }
        };
    }

    @SuppressWarnings("unchecked") // an exchange's key names its workload
    private <I, O> Codec<I, O> codec(Options options, Workload<I, O> workload) {
        return switch (options.transport()) {
            case "cxf" -> (Codec<I, O>) exchange(options, workload);
            case "soap" -> workload.soap();
            default -> workload.json();
        };
    }

    private Exchange exchange(Options options, Workload<?, ?> workload) {
        String transport = options.transport();
        boolean isCxf = transport.equals("cxf");
        if (!Main.TRANSPORTS.contains(transport)) {
            throw new IllegalArgumentException("transport: must be one of " + Main.TRANSPORTS + ", is " + transport);
        } else if (isCxf && !HOLDING.contains(options.strategy())) {
            throw new IllegalArgumentException(
                    "strategy: must be one of " + HOLDING + " for cxf, is " + options.strategy());
        }
        URI target = options.target();
        if (isCxf) {
            return proxies.computeIfAbsent(
                    List.of(options.workload(), target), any -> workload.cxf().apply(options.url()));
        }
        var headers = HEADERS.get(transport);
        return connected
                .computeIfAbsent(target.getAuthority(), any -> new HttpExchange(target, headers))
                .to(target, headers);
    }

    /** The elements of a JSON file; the file is read again only where it has changed. */
    @SuppressWarnings("unchecked") // the version holds the function that made the elements
    private <T> List<T> file(Path path, Function<JsonNode, T> element) throws IOException {
        if (!Files.isReadable(path)) {
            throw new IllegalArgumentException("inputs or expected: cannot be read: " + path);
        }
        Object version = List.of(element, Files.getLastModifiedTime(path), Files.size(path));
        Elements elements = read.get(path);
        if (elements == null || !elements.version().equals(version)) {
            JsonNode all = json.readTree(Files.readAllBytes(path));
            elements = new Elements(version, all.valueStream().map(element).toList());
            read.put(path, elements);
        }
        return (List<T>) elements.all();
    }

    private static BufferedWriter log(Path path) throws IOException {
        return path == null
                ? null
                : Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Counts outcomes by how they ended. */
    private static final class Tally {
        private final Map<String, Integer> failed = new TreeMap<>();
        private int outcomes;
        private int done;
        private int cancelled;
        private int wrong;

        void add(Outcome<CheckResult> outcome) {
            outcomes++;
            if (outcome instanceof Outcome.Done<CheckResult> own) {
                done++;
                wrong += own.result().isWrong() ? 1 : 0;
            } else if (outcome instanceof Outcome.Failed<CheckResult> own) {
                String code = own.errorCode() == null ? "" : " " + own.errorCode();
                failed.merge(own.kind() + code, 1, Integer::sum);
            } else {
                cancelled++;
            }
        }

        Map<String, Object> summary(Totals totals, Map<String, Integer> threads, Usage before, Usage after) {
            Map<String, Object> summary = new LinkedHashMap<>();
            summary.put("elapsed_s", totals.elapsedSeconds());
            summary.put("outcomes", outcomes);
            summary.put("done", done);
            summary.put("failed", failed);
            summary.put("cancelled", cancelled);
            summary.put("wrong", wrong);
            summary.put("attempts", totals.attempts());
            summary.put("retries", totals.retries());
            summary.put("cpu_s", after.cpuSeconds() - before.cpuSeconds());
            summary.put("peak_in_flight", totals.peakInFlight());
            summary.put("threads", threads);
            Map<String, Object> stages = new LinkedHashMap<>();
            totals.wall()
                    .forEach((stage, wall) -> stages.put(
                            stage.name(),
                            Map.of("wall_s", wall, "cpu_s", totals.cpu().get(stage))));
            summary.put("stages", stages);
            summary.put("compile_s", after.compileSeconds() - before.compileSeconds());
            summary.put("gc_s", after.gcSeconds() - before.gcSeconds());
            return summary;
        }
    }

    /** Ends the batch under way, and closes connections. */
    @Override
    public void close() {
        Calls<?> calls = underWay;
        if (calls != null) {
            calls.close();
        }
        proxies.values().forEach(Exchange::close);
        connected.values().forEach(Exchange::close);
    }
}
