package org.restbench;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.RequestIds;
import org.restbench.codec.Workloads;
import org.restbench.execution.Technique;
import org.restbench.workload.Workload;

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
        CodedWorkload<?, ?> workload = workloads.byName().get(COMMAND + "-" + kernel.toLowerCase(Locale.ROOT));
        require(workload != null, "kernel: must be one of IS, CG, MG, FT");
        return workload;
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
