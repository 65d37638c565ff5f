package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.memory.MemoryBudget;

/** Every example of the contract over real HTTP. */
class ContractExamplesTest {
    /** Enough to receive a small request, too little for what it asks for. */
    private static final long FOR_A_BODY = 1 << 18;

    private static final List<String> KERNELS = List.of("", "kernel=loops", "kernel=native");

    /** Under serial, and those that are answered with a result under every strategy, with each kernel. */
    @TestFactory
    Stream<DynamicTest> every_example_holds() {
        RunningService service = RunningService.withDefaults();
        return examples("").stream()
                .map(example -> DynamicTest.dynamicTest(example.name(), () -> {
                    boolean inJson = !example.workload().equals("soap/npb"); // which is as slow again, and no different
                    boolean everywhere = example.name().startsWith("ok") && inJson;
                    for (String strategy : everywhere ? strategies(service, example) : List.of("serial")) {
                        for (String kernel : example.everyKernel() ? KERNELS : List.of("")) {
                            example.check(service.send(example.request(service, strategy, kernel)));
                        }
                    }
                }))
                .onClose(service::close);
    }

    @Test
    void every_situation_of_the_examples_is_made_here() {
        assertThat(ContractExample.all())
                .hasSizeGreaterThan(100)
                .extracting(ContractExample::given)
                .containsOnly(
                        "",
                        "body-limit-100",
                        "body-limit-1000",
                        "in-flight-limit-reached",
                        "delay-limit-reached",
                        "memory-limit-100-mib",
                        "memory-held",
                        "operations-limit-1000",
                        "loop-operations-limit-1000",
                        "compute-fault",
                        "database",
                        "queue-empty",
                        "queue-three",
                        "database-down",
                        "database-lost-at-commit",
                        "queue-without-room");
    }

    @Test
    void examples_with_a_fault_in_compute_hold() {
        try (RunningService service = new RunningService(Map.of(), TestWorkloads.FAILING)) {
            checkAll("compute-fault", service);
        }
    }

    @Test
    void examples_at_the_limit_of_requests_in_flight_hold() throws Exception {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_IN_FLIGHT", "1");
        try (RunningService service = new RunningService(limit, new TestWorkloads.Gated())) {
            var holding = service.multiplyLater("serial");
            TestWorkloads.Gated.ENTERED.acquire();
            try {
                checkAll("in-flight-limit-reached", service);
            } finally {
                TestWorkloads.Gated.LET_THROUGH.release();
            }
            assertThat(holding.get().body()).isEqualTo(RunningService.PRODUCT);
        }
    }

    @Test
    void examples_at_the_limit_of_requests_that_wait_for_their_delay_hold() throws Exception {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_IN_FLIGHT", "3");
        CompletableFuture<HttpResponse<String>> waiting;
        try (RunningService service = new RunningService(limit)) {
            waiting = service.multiplyLater("serial?delay=10000");
            service.awaitDelayed(1);
            checkAll("delay-limit-reached", service);
        }
        assertThat(waiting.get().body()).isEqualTo(RunningService.PRODUCT);
    }

    @ParameterizedTest
    @CsvSource({
        "body-limit-100, RESTBENCH_MAX_BODY_BYTES=100",
        "body-limit-1000, RESTBENCH_MAX_BODY_BYTES=1000",
        "memory-limit-100-mib, RESTBENCH_MEMORY_BUDGET_BYTES=104857600",
        "loop-operations-limit-1000, RESTBENCH_MAX_LOOP_OPERATIONS=1000",
        "operations-limit-1000, RESTBENCH_MAX_LOOP_OPERATIONS=1000 RESTBENCH_MAX_OPERATIONS=1000"
    })
    void examples_with_a_low_limit_hold(String given, String settings) {
        Map<String, String> limits = Stream.of(settings.split(" "))
                .map(each -> each.split("="))
                .collect(Collectors.toMap(each -> each[0], each -> each[1]));
        try (RunningService service = new RunningService(limits)) {
            checkAll(given, service);
        }
    }

    @Test
    void examples_while_all_memory_is_held_hold() {
        try (RunningService service = RunningService.withDefaults()) {
            MemoryBudget memory = service.bean(MemoryBudget.class);
            MemoryBudget.Hold others = memory.hold(memory.totalBytes() - FOR_A_BODY);
            checkAll("memory-held", service);
            others.close();
        }
    }

    private static void checkAll(String given, RunningService service) {
        for (ContractExample example : examples(given)) {
            for (String strategy : strategies(service, example)) {
                example.check(service.send(example.request(service, strategy, "")));
            }
        }
    }

    static List<ContractExample> examples(String given) {
        List<ContractExample> examples = ContractExample.all().stream()
                .filter(example -> example.given().equals(given))
                .toList();
        assertThat(examples).isNotEmpty();
        return examples;
    }

    /** All that the service lists with the example's workload, where it is for all. */
    private static List<String> strategies(RunningService service, ContractExample example) {
        return example.everyStrategy() ? service.strategies(example.workload()) : List.of("serial");
    }
}
