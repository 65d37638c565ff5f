package org.restbench.client.calls;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.restbench.client.Limits;
import org.restbench.client.Retries;
import org.restbench.client.strategy.Strategies;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/**
 * The options of a batch, read from one line. Absent members have the library's defaults.
 *
 * @param teams threads of each team of a pipeline: S, C, D, P or S, D, P
 * @param retries whether failed calls are sent again, as by {@link Retries#IDEMPOTENT}
 * @param inputs a file with a list of request bodies in their REST form; for a kernel over SOAP, each body also names
 *     the kernel in {@code kernel}
 * @param expected a file with a list of the rows of the expected products, or null
 * @param only the indices of the calls to make, or null for all
 * @param log a file to which a line is appended for each call, or null
 * @param loopThreads threads for the elements within one document
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
record Options(
        String url,
        String transport,
        String workload,
        String strategy,
        Integer threads,
        List<Integer> teams,
        Integer calls,
        Integer inFlight,
        Integer queue,
        Double perCallS,
        Double wholeS,
        Boolean retries,
        Path inputs,
        Path expected,
        List<Integer> only,
        Path log,
        Integer loopThreads) {
    private static final int MOST_CALLS = 10_000_000;
    private static final Limits USUAL = Limits.DEFAULT;

    Options {
        required("url", url);
        required("strategy", strategy);
        required("inputs", inputs);
        transport = transport == null ? "rest" : transport;
        workload = workload == null ? "matrix" : workload;
        threads = threads == null ? Strategies.defaultThreads(strategy) : threads;
        loopThreads = loopThreads == null ? 1 : loopThreads;
        if (required("calls", calls) < 0 || calls > MOST_CALLS) {
            throw new IllegalArgumentException("calls: must be from 0 to " + MOST_CALLS + ", is " + calls);
        }
        int most = calls - 1;
        if (only != null && only.stream().anyMatch(index -> index < 0 || index > most)) {
            throw new IllegalArgumentException("only: must be from 0 to " + most + " each");
        }
    }

    private static <T> T required(String name, T value) {
        if (value == null) {
            throw new IllegalArgumentException(name + ": is missing");
        }
        return value;
    }

    /** @throws IllegalArgumentException where the URL is no http URL */
    URI target() {
        URI target = URI.create(url);
        if (!"http".equals(target.getScheme()) || target.getHost() == null) {
            throw new IllegalArgumentException("url: must begin with http://, is " + url);
        }
        return target;
    }

    /** The index of a call, by its position in the order of starting. */
    int index(long call) {
        return only == null ? (int) call : only.get((int) call);
    }

    int size() {
        return only == null ? calls : only.size();
    }

    Limits limits() {
        return new Limits(
                inFlight == null ? USUAL.inFlight() : inFlight,
                queue == null ? USUAL.queue() : queue,
                perCallS == null ? USUAL.perCall() : seconds(perCallS),
                wholeS == null ? null : seconds(wholeS),
                USUAL.maxAnswerBytes(),
                Boolean.TRUE.equals(retries) ? Retries.IDEMPOTENT : Retries.NONE,
                false);
    }

    private static Duration seconds(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }
}
