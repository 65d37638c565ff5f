package org.restbench;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import org.restbench.affinity.CoreAffinity;
import org.restbench.codec.Query;
import org.restbench.codec.RequestIds;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies;
import org.restbench.execution.Strategies.Technique;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.settings.Settings;
import org.restbench.settings.Settings.Cores;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.Workload;

/**
 * Runs a kernel without HTTP under any technique: the "normal execution" to compare the service with. It uses the
 * service's own codec, workload and strategy, and prints each response as one line.
 */
record DirectRun(CodedWorkload<?, ?> workload, ExecutionStrategy strategy, MemoryBudget memory) {
    private static final Wiring WIRING = new Wiring();

    /** Standard output takes no more: the disk is full, or nobody reads any longer. */
    static final class Unwritten extends RuntimeException {
        private Unwritten() {
            super("standard output takes no more", null, false, false);
        }
    }

    /**
     * @param out receives the responses, and nothing else
     * @throws DirectArguments.InvalidArguments where there is no such kernel, class or technique, or too little memory
     * @throws Unwritten where a response cannot be written
     */
    static void run(DirectArguments arguments, Settings settings, CoreAffinity affinity, PrintStream out) {
        MemoryBudget memory = new MemoryBudget(settings.memoryBudgetBytes());
        Cores cores = Cores.of(affinity.coresOfProcess(), settings.pinnedWorkers());
        try (Workloads workloads = WIRING.workloads(settings, memory);
                Strategies strategies = WIRING.strategies(settings, cores, affinity)) {
            CodedWorkload<?, ?> workload = arguments.workloadOf(workloads);
            Technique technique = arguments.techniqueOf(strategies.all(), workload.workload());
            DirectRun run = new DirectRun(workload, technique.strategy(), memory);
            for (int i = 1; i <= arguments.repetitions(); i++) {
                out.println(run.response(arguments.body(i)));
                if (out.checkError()) {
                    throw new Unwritten();
                }
            }
        }
    }

    private String response(byte[] body) {
        try (MemoryBudget.Hold hold = memory.hold(body.length)) {
            Job<?, ?> job = new Job<>(workload, body, Query.NONE, hold, WorkLimits.NONE, () -> true);
            byte[] json = strategy.execute(job).toCompletableFuture().join();
            return new String(json, StandardCharsets.UTF_8);
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof InvalidRequest || failed.getCause() instanceof MemoryRefused) {
                throw new DirectArguments.InvalidArguments(failed.getCause().getMessage());
            }
            throw failed;
        }
    }

    /**
     * The arguments of a direct run: {@code npb KERNEL CLASS [--strategy NAME] [--repetitions N] [--cached-input]}.
     *
     * @param kernel NPB's name of the kernel: IS, CG, MG or FT
     * @param npbClass NPB's problem class: S, W, A, B or C, for MG also W30
     * @param repetitions number of runs, one after the other in this process
     * @param cachedInput whether only the first run builds the input, and the others reuse it
     */
    record DirectArguments(String kernel, String npbClass, String strategy, int repetitions, boolean cachedInput) {
        private static final String COMMAND = "npb";
        private static final List<String> KERNELS = List.of("IS", "CG", "MG", "FT");
        private static final String USAGE =
                "usage: java -jar restbench-java.jar npb KERNEL CLASS [--strategy NAME] [--repetitions N] [--cached-input]";

        /** The arguments are invalid; the message is one line. */
        static final class InvalidArguments extends RuntimeException {
            InvalidArguments(String message) {
                super(message, null, false, false);
            }
        }

        /** @throws InvalidArguments where the arguments are not of the form above */
        static DirectArguments parse(List<String> arguments) {
            require(arguments.size() >= 3 && arguments.get(0).equals(COMMAND), USAGE);
            String strategy = "serial";
            int repetitions = 1;
            boolean cachedInput = false;
            for (Iterator<String> rest = arguments.listIterator(3); rest.hasNext(); ) {
                switch (rest.next()) {
                    case "--cached-input" -> cachedInput = true;
                    case "--strategy" -> strategy = value(rest);
                    case "--repetitions" -> repetitions = repetitions(value(rest));
                    default -> throw new InvalidArguments(USAGE);
                }
            }
            return new DirectArguments(arguments.get(1), arguments.get(2), strategy, repetitions, cachedInput);
        }

        private static String value(Iterator<String> rest) {
            require(rest.hasNext(), USAGE);
            return rest.next();
        }

        private static int repetitions(String value) {
            require(value.matches("[1-9][0-9]{0,5}"), "--repetitions: must be an integer from 1 to 999999");
            return Integer.parseInt(value);
        }

        CodedWorkload<?, ?> workloadOf(Workloads workloads) {
            require(KERNELS.contains(kernel), "kernel: must be one of " + String.join(", ", KERNELS));
            return workloads.byName().get(COMMAND + "-" + kernel.toLowerCase(Locale.ROOT));
        }

        Technique techniqueOf(List<Technique> techniques, Workload<?, ?> workload) {
            List<Technique> taking =
                    techniques.stream().filter(it -> it.takes(workload)).toList();
            String names = taking.stream().map(Technique::name).collect(Collectors.joining(", "));
            return taking.stream()
                    .filter(it -> it.name().equals(strategy))
                    .findFirst()
                    .orElseThrow(() -> new InvalidArguments("--strategy: must be one of " + names));
        }

        /** The body of the request that a client would send. */
        byte[] body(int requestId) {
            String json = "{\"requestId\":" + requestId + ",\"class\":" + RequestIds.quote(npbClass) + ",\"generate\":"
                    + !cachedInput + "}";
            return json.getBytes(StandardCharsets.UTF_8);
        }

        private static void require(boolean right, String message) {
            if (!right) {
                throw new InvalidArguments(message);
            }
        }
    }
}
