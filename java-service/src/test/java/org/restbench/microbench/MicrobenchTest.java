package org.restbench.microbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Each benchmark runs, once, for a millisecond, in this process: what it measures is nobody's business here. */
class MicrobenchTest {
    private static final String BODY =
            "{\"requestId\":7,\"matrixOne\":{\"columnCount\":2,\"rows\":[{\"value\":\"1,2\"}]},"
                    + "\"matrixTwo\":{\"columnCount\":1,\"rows\":[{\"value\":\"3\"},{\"value\":\"4\"}]}}";

    private static final String IGNORE_LOCK = "jmh.ignoreLock";

    @TempDir
    Path folder;

    @BeforeEach
    void the_harness_has_made_a_body() {
        System.setProperty(MatrixBody.FOLDER, folder.toString());
        System.setProperty(IGNORE_LOCK, "true"); // of the whole machine: others may measure, nothing is measured here
    }

    @AfterEach
    void forget_it() {
        System.clearProperty(MatrixBody.FOLDER);
        System.clearProperty(IGNORE_LOCK);
    }

    private void write(String answer) throws IOException {
        Files.writeString(folder.resolve("low.json"), BODY);
        Files.writeString(folder.resolve("low.answer.json"), answer);
    }

    private static ChainedOptionsBuilder once(String include) {
        return new OptionsBuilder()
                .include(include)
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(1))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
    }

    private static String[] everyStrategy() {
        ServiceParts parts = new ServiceParts();
        try {
            return parts.strategyNames().toArray(String[]::new);
        } finally {
            parts.close();
        }
    }

    @Test
    void every_benchmark_runs_under_every_strategy_of_the_table() throws IOException, RunnerException {
        write("{\"requestId\":\"7\",\"rows\":[[11]]}");
        String[] strategies = everyStrategy();
        Collection<RunResult> found = new Runner(once("org.restbench.microbench")
                        .param("strategy", strategies)
                        .build())
                .run();
        int kernels = 2;
        assertThat(found.stream()
                        .map(each -> each.getPrimaryResult().getLabel())
                        .collect(Collectors.groupingBy(label -> label, Collectors.summingInt(label -> 1))))
                .containsEntry("parse", 1)
                .containsEntry("serialize", 1)
                .containsEntry("compute", kernels * strategies.length)
                .containsEntry("dispatch", kernels * strategies.length)
                .containsEntry("unmarshal", 1)
                .containsEntry("soap", 1)
                .hasSize(6);
        assertThat(found)
                .allSatisfy(
                        each -> assertThat(each.getPrimaryResult().getScore()).isPositive());
    }

    @Test
    void a_wrong_answer_is_never_timed() throws IOException {
        write("{\"requestId\":\"7\",\"rows\":[[12]]}");
        assertThatThrownBy(() -> new Runner(once("ComputeBenchmark").build()).run())
                .hasStackTraceContaining("low: a wrong answer");
    }

    @Test
    void a_strategy_that_is_not_in_the_table_is_refused() throws IOException {
        write("{\"requestId\":\"7\",\"rows\":[[11]]}");
        assertThatThrownBy(() -> new Runner(once("DispatchBenchmark")
                                .param("strategy", "no-such")
                                .build())
                        .run())
                .hasStackTraceContaining("no-such: not one of [serial");
    }
}
