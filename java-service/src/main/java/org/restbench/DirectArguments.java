package org.restbench;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.RequestIds;
import org.restbench.codec.Workloads;
import org.restbench.execution.Technique;
import org.restbench.workload.Workload;

/**
 * What a direct run is asked for: {@code npb KERNEL CLASS [--strategy NAME] [--repetitions N] [--cached-input]}.
 *
 * @param kernel NPB's name, IS, CG, MG or FT
 * @param npbClass S, W, A, B or C; W30 of MG
 * @param repetitions runs in this process, one after the other
 * @param cachedInput whether the input is built for the first run alone
 */
record DirectArguments(String kernel, String npbClass, String strategy, int repetitions, boolean cachedInput) {
    static final String COMMAND = "npb";
    private static final String USAGE =
            "usage: java -jar restbench-java.jar npb KERNEL CLASS [--strategy NAME] [--repetitions N] [--cached-input]";

    /** What cannot be run; the message is one line. */
    static final class Wrong extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Wrong(String message) {
            super(message, null, false, false);
        }
    }

    /** @throws Wrong where they are not of the form above */
    static DirectArguments parse(List<String> arguments) {
        require(arguments.size() >= 3 && arguments.get(0).equals(COMMAND), USAGE);
        DirectArguments parsed = new DirectArguments(arguments.get(1), arguments.get(2), "serial", 1, false);
        for (int i = 3; i < arguments.size(); i++) {
            String option = arguments.get(i);
            if (option.equals("--cached-input")) {
                parsed = new DirectArguments(parsed.kernel, parsed.npbClass, parsed.strategy, parsed.repetitions, true);
            } else {
                require(i + 1 < arguments.size(), USAGE);
                parsed = parsed.with(option, arguments.get(++i));
            }
        }
        return parsed;
    }

    private DirectArguments with(String option, String value) {
        if (option.equals("--strategy")) {
            return new DirectArguments(kernel, npbClass, value, repetitions, cachedInput);
        }
        require(option.equals("--repetitions"), USAGE);
        require(value.matches("[1-9][0-9]{0,5}"), "--repetitions: must be an integer from 1 to 999999");
        return new DirectArguments(kernel, npbClass, strategy, Integer.parseInt(value), cachedInput);
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
                .orElseThrow(() -> new Wrong("--strategy: must be one of " + names));
    }

    /** The request that a client would send. */
    byte[] body(int requestId) {
        String json = "{\"requestId\":" + requestId + ",\"class\":" + RequestIds.quote(npbClass) + ",\"generate\":"
                + !cachedInput + "}";
        return json.getBytes(StandardCharsets.UTF_8);
    }

    private static void require(boolean right, String message) {
        if (!right) {
            throw new Wrong(message);
        }
    }
}
