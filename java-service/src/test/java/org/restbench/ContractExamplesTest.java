package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
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
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.framework.Framework;
import org.restbench.framework.Frameworks;
import org.restbench.memory.MemoryBudget;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.server.servlet.ServletWebServerFactory;
import tools.jackson.databind.JsonNode;

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

    static Stream<String> frameworks() {
        return Frameworks.ALL.stream().map(Framework::name);
    }

    /** From whatever thread an answer comes. {@code contract/run.py} tries all examples under each. */
    @ParameterizedTest
    @MethodSource("frameworks")
    void the_service_is_the_same_under_every_framework(String framework) throws IOException {
        boolean isServlet = Frameworks.named(framework).kind() == WebApplicationType.SERVLET;
        Map<String, String> patient = Map.of("RESTBENCH_STOP_TIMEOUT_SECONDS", "60");
        try (RunningService service = RunningService.under(framework, patient)) {
            healthNamesFrameworkAndServer(service, framework, isServlet);
            for (ContractExample example : examples("")) {
                if (example.name().equals("ok-low.json")) { // in JSON and in SOAP, where there is any
                    for (String strategy : strategies(service, example)) {
                        example.check(service.send(example.request(service, strategy, "")));
                    }
                }
            }
            aLongAnswerIsWhole(service);
            aTargetInAbsoluteFormIsTaken(service);
            soapIsOfferedByServletContainersAlone(service, isServlet);
            withNothingInFlightItStopsLongBeforeItsPatienceEnds(service);
        }
    }

    /** Which are those that run: where Spring Boot finds two servlet containers, it takes Jetty by itself. */
    private static void healthNamesFrameworkAndServer(RunningService service, String framework, boolean isServlet) {
        JsonNode health = ContractExample.JSON.readTree(service.get("/health").body());
        assertThat(health.get("framework").asString()).isEqualTo(framework);
        String server = health.get("server").asString();
        assertThat(server).matches("[A-Z][A-Za-z. ]+ [0-9]+\\.[0-9.]+(-[A-Z0-9]+)?");
        if (isServlet) {
            assertThat(service.bean(ServletWebServerFactory.class).getClass().getSimpleName())
                    .startsWith(server.split(" ")[0]);
        }
    }

    /** More than any server holds back, and than a connection's buffers take at once. */
    private static void aLongAnswerIsWhole(RunningService service) {
        int length = 1000;
        String row = "[" + "1,".repeat(length - 1) + "1]";
        String rows = (row + ",").repeat(length - 1) + row;
        for (String strategy : List.of("serial", "pinned")) {
            HttpResponse<String> answer = service.post("/matrix/" + strategy, HostileBodies.columnTimesRow(length));
            assertThat(answer.body()).as(strategy).isEqualTo("{\"requestId\":\"1\",\"rows\":[" + rows + "]}");
        }
        assertThat(service.get("/metrics").body()).contains("restbench_requests_in_flight 0.0");
    }

    /** It was 404 under those that tell the target as it was sent. */
    private static void aTargetInAbsoluteFormIsTaken(RunningService service) throws IOException {
        for (String query : List.of("", "?kernel=native", "?kernel=x")) {
            String request = RawHttp.post("http://x/matrix/serial" + query, RunningService.BODY);
            assertThat(RawHttp.first(service, request))
                    .as(query)
                    .startsWith("HTTP/1.1 " + (query.endsWith("x") ? 422 : 200));
        }
    }

    /** A request in SOAP keeps the server's thread. */
    private static void soapIsOfferedByServletContainersAlone(RunningService service, boolean isServlet) {
        HttpResponse<String> answer = service.post("/soap/matrix/serial", "text/xml", SoapTest.ENVELOPE);
        assertThat(answer.statusCode()).isEqualTo(isServlet ? 200 : 404);
        assertThat(answer.body()).contains(isServlet ? "58,64" : "\"009\"");
        assertThat(service.get("/soap/matrix?wsdl").statusCode()).isEqualTo(isServlet ? 200 : 404);
        for (String page : List.of("/strategies", "/docs")) {
            assertThat(service.get(page).body().contains("soap")).as(page).isEqualTo(isServlet);
        }
    }

    /** Spring's own patience with what does not say that it has stopped is 10 s. */
    private static void withNothingInFlightItStopsLongBeforeItsPatienceEnds(RunningService service) {
        assertThat(LifecycleTest.stop(service)).succeedsWithin(Duration.ofSeconds(8));
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

    private static List<ContractExample> examples(String given) {
        List<ContractExample> examples = ContractExample.all().stream()
                .filter(example -> example.given().equals(given))
                .toList();
        assertThat(examples).isNotEmpty();
        return examples;
    }

    /** All that the service lists with the example's workload, where it is for all. */
    private static List<String> strategies(RunningService service, ContractExample example) {
        if (!example.everyStrategy()) {
            return List.of("serial");
        }
        return strategies(service, example.workload());
    }

    static List<String> strategies(RunningService service) {
        return strategies(service, "matrix");
    }

    static List<String> strategies(RunningService service, String workload) {
        return ContractExample.JSON
                .readTree(service.get("/strategies").body())
                .get("strategies")
                .valueStream()
                .filter(offer -> offer.get("workloads")
                        .valueStream()
                        .anyMatch(it -> it.asString().equals(workload)))
                .map(offer -> offer.get("name").asString())
                .toList();
    }
}
