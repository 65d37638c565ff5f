package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.codec.NpbJson;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.AdaptiveStrategy;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Strategies;
import org.restbench.execution.Strategies.Technique;
import org.restbench.execution.StrategiesOf;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.npb.InputCache;
import org.restbench.workload.npb.NpbWorkload;
import org.restbench.workload.npb.Problem.Kernel;
import org.restbench.workload.npb.cg.ConjugateGradient;
import org.restbench.workload.npb.ft.FourierTransform;
import org.restbench.workload.npb.is.IntegerSort;
import org.restbench.workload.npb.mg.Multigrid;
import tools.jackson.databind.JsonNode;

/** Every kernel verifies under every strategy that takes it, and finds the same to the last bit. */
class NpbStrategiesTest {
    private static final Strategies STRATEGIES = StrategiesOf.cores(2);
    private static final MemoryBudget MEMORY = new MemoryBudget(2L << 30);
    private static final InputCache INPUTS = new InputCache(MEMORY);
    private static final Map<String, CodedWorkload<?, ?>> KERNELS = Map.of(
            "IS", coded(IntegerSort.kernel()),
            "CG", coded(ConjugateGradient.kernel()),
            "MG", coded(Multigrid.kernel()),
            "FT", coded(FourierTransform.kernel()));

    private static final Map<String, JsonNode> FOUND_BY_SERIAL = new HashMap<>();

    private static CodedWorkload<?, ?> coded(Kernel kernel) {
        return new CodedWorkload<>(new NpbWorkload(kernel, INPUTS), new NpbJson(kernel));
    }

    @AfterAll
    static void close() {
        STRATEGIES.close();
    }

    static List<Technique> taking() {
        return STRATEGIES.all().stream()
                .filter(technique -> technique.takes(KERNELS.get("CG").workload()))
                .toList();
    }

    private static ExecutionStrategy strategy(String name) {
        return StrategiesOf.named(name, STRATEGIES);
    }

    private static JsonNode run(ExecutionStrategy strategy, String kernel, String npbClass, boolean generate) {
        String body = "{\"requestId\":1,\"class\":\"" + npbClass + "\",\"generate\":" + generate + "}";
        return ContractExample.JSON.readTree(StrategiesOf.answer(strategy, KERNELS.get(kernel), body, MEMORY));
    }

    /** From a thread of its own. */
    private static CompletableFuture<JsonNode> runLater(
            ExecutionStrategy strategy, String kernel, String npbClass, boolean generate) {
        return CompletableFuture.supplyAsync(
                () -> run(strategy, kernel, npbClass, generate), task -> new Thread(task).start());
    }

    private static void check(ExecutionStrategy strategy, String kernel, String npbClass) {
        JsonNode found = run(strategy, kernel, npbClass, true);
        assertThat(found.get("verified").asBoolean()).as(found.toString()).isTrue();
        JsonNode serial = FOUND_BY_SERIAL.computeIfAbsent(
                kernel + npbClass, once -> run(strategy("serial"), kernel, npbClass, false));
        assertThat(serial.get("verified").asBoolean()).as(serial.toString()).isTrue();
        assertThat(found.get("value")).isEqualTo(serial.get("value"));
    }

    /** Class W, whose loops have more tasks, with one kernel for each strategy. */
    @ParameterizedTest
    @MethodSource("taking")
    void small_classes_verify_and_find_what_serial_finds(Technique technique) {
        List<String> kernels = List.of("IS", "CG", "MG", "FT");
        kernels.forEach(kernel -> check(technique.strategy(), kernel, "S"));
        check(technique.strategy(), kernels.get(taking().indexOf(technique) % kernels.size()), "W");
    }

    @Test
    void long_work_that_gives_way_verifies() {
        AdaptiveStrategy adaptive = STRATEGIES.adaptive();
        List<String> requests = List.of("IS", "CG", "MG", "FT", "IS", "CG", "MG", "FT");
        List<CompletableFuture<JsonNode>> answers =
                requests.stream().map(it -> runLater(adaptive, it, "W", true)).toList();
        assertThat(answers).allMatch(it -> it.join().get("verified").asBoolean());
        assertThat(adaptive.decided(AdaptiveStrategy.Decision.LOW_PRIORITY)).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"IS", "CG", "MG", "FT"})
    void class_a_verifies(String kernel) {
        JsonNode found = run(strategy("shared-pool"), kernel, "A", true);
        assertThat(found.get("verified").asBoolean()).isTrue();
    }

    @Test
    void eight_requests_of_mixed_kernels_at_once_all_verify() {
        List<String> mixed = List.of("IS", "CG", "MG", "FT", "CG", "MG", "FT", "IS");
        List<Technique> techniques = taking();
        for (boolean generate : new boolean[] {true, false}) {
            List<CompletableFuture<JsonNode>> running = new ArrayList<>();
            for (int i = 0; i < mixed.size(); i++) {
                ExecutionStrategy strategy =
                        techniques.get(i % techniques.size()).strategy();
                running.add(runLater(strategy, mixed.get(i), i % 2 == 0 ? "W" : "S", generate));
            }
            running.forEach(it -> assertThat(it.join().get("verified").asBoolean())
                    .as(it.join().toString())
                    .isTrue());
        }
    }
}
