package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.affinity.OpenHftAffinity;
import tools.jackson.databind.JsonNode;

/** What the contract says beyond its examples, over real HTTP. */
class HttpTest {
    private static RunningService service;

    @BeforeAll
    static void start() {
        service = RunningService.withDefaults();
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    private static JsonNode json(String path) {
        return ContractExample.JSON.readTree(service.get(path).body());
    }

    @Test
    void a_product_has_the_time_of_each_stage() {
        for (String strategy : ContractExamplesTest.strategies(service)) {
            HttpResponse<String> answer = service.send(service.multiplication(strategy));
            assertThat(answer.body()).isEqualTo(RunningService.PRODUCT);
            assertThat(answer.headers().firstValue("Server-Timing").orElse(""))
                    .matches("queue;dur=\\d+\\.\\d{3}, parse;dur=\\d+\\.\\d{3}, compute;dur=\\d+\\.\\d{3}, "
                            + "serialize;dur=\\d+\\.\\d{3}");
            assertThat(answer.headers().firstValue("Transfer-Encoding")).isEmpty();
            assertThat(answer.headers().firstValue("Server")).isEmpty();
        }
    }

    @Test
    void health_names_the_cores_and_settings() {
        JsonNode health = json("/health");
        assertThat(health.get("status").asString()).isEqualTo("ok");
        assertThat(health.get("service").asString()).isEqualTo("java");
        assertThat(health.get("version").asString()).isEqualTo("0.1.0");
        assertThat(health.get("runtime").asString()).contains(System.getProperty("java.runtime.version"));
        List<Integer> cores =
                health.get("cores").valueStream().map(JsonNode::asInt).toList();
        assertThat(cores)
                .isEqualTo(
                        new OpenHftAffinity().coresOfProcess().stream().boxed().toList());
        assertThat(health.get("settings").get("maxInFlight").asInt()).isEqualTo(256);
    }

    @Test
    void health_shows_what_adaptive_decides_by_and_metrics_what_it_decided() {
        JsonNode adaptive = json("/health").get("adaptive");
        assertThat(adaptive.get("lowPriority").asBoolean()).isTrue();
        assertThat(adaptive.get("longFromMicros").asDouble()).isPositive();
        String caller = "restbench_decisions_total{decision=\"caller\",strategy=\"adaptive\"} ";
        double before = metric(caller);
        IntStream.range(0, 3).forEach(i -> service.send(service.multiplication("adaptive")));
        assertThat(metric(caller) - before).as("each alone").isEqualTo(3);
        for (String other : List.of("shared-pool", "low-priority")) {
            assertThat(service.get("/metrics").body())
                    .contains("restbench_decisions_total{decision=\"" + other + "\",strategy=\"adaptive\"} ");
        }
    }

    @Test
    void strategies_are_those_of_the_design_in_its_order() {
        boolean virtual = Runtime.version().feature() >= 21;
        Stream<String> expected = Stream.of(
                "serial",
                "thread-pool",
                "pinned",
                "thread-per-element",
                "shared-pool",
                "fork-join",
                "pipeline",
                "worker-pool");
        assertThat(ContractExamplesTest.strategies(service))
                .isEqualTo(Stream.of(
                                expected,
                                virtual
                                        ? Stream.of("virtual-threads", "virtual-thread-per-request")
                                        : Stream.<String>empty(),
                                Stream.of("adaptive"))
                        .flatMap(it -> it)
                        .toList());
        JsonNode keys = json("/strategies").get("strategies");
        assertThat(keys.get(1).get("key").asString()).isEqualTo("M");
        assertThat(keys.get(3).get("key").isNull()).isTrue();
        for (JsonNode offer : keys) {
            assertThat(offer.get("workloads").valueStream().map(JsonNode::asString))
                    .containsExactlyElementsOf(
                            offer.get("name").asString().equals("thread-per-element")
                                    ? List.of("matrix", "logs", "soap/matrix")
                                    : List.of(
                                            "matrix",
                                            "logs",
                                            "npb-is",
                                            "npb-cg",
                                            "npb-mg",
                                            "npb-ft",
                                            "soap/matrix",
                                            "soap/npb"));
        }
    }

    /** Micrometer's, which hold up every thread that ends, tell of threads started as well. */
    @Test
    void metrics_tell_threads_by_state_from_our_own_count() {
        String told = service.get("/metrics").body();
        assertThat(told).containsPattern("jvm_threads_states_threads\\{state=\"runnable\"} [1-9]");
        assertThat(told).contains("jvm_threads_live_threads ").doesNotContain("jvm_threads_started");
    }

    @Test
    void metrics_count_every_answer_by_strategy_and_status() {
        String line = "restbench_requests_total{status=\"%d\",strategy=\"shared-pool\",workload=\"matrix\"} ";
        double ok = metric(String.format(line, 200));
        double wrong = metric(String.format(line, 400));
        IntStream.range(0, 3).forEach(i -> service.send(service.multiplication("shared-pool")));
        service.send(service.to("/matrix/shared-pool")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{"))
                .build());
        assertThat(metric(String.format(line, 200)) - ok).isEqualTo(3);
        assertThat(metric(String.format(line, 400)) - wrong).isEqualTo(1);
        assertThat(metric("restbench_requests_in_flight ")).isZero();
        assertThat(metric("jvm_threads_live_threads ")).isPositive();
    }

    private static double metric(String prefix) {
        return service.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(prefix))
                .mapToDouble(line -> Double.parseDouble(line.substring(prefix.length())))
                .sum();
    }

    @Test
    void the_contract_is_served_as_json_and_as_a_page_that_needs_no_network() {
        JsonNode openApi = json("/openapi.json");
        assertThat(openApi.get("paths").has("/matrix/{strategy}")).isTrue();
        JsonNode codes = openApi.at("/components/schemas/Error/properties/errorCode/enum");
        assertThat(codes.valueStream()).hasSize(16).allMatch(JsonNode::isString);
        String page = service.get("/docs").body();
        assertThat(page).doesNotContain("http://", "https://");
        assertThat(service.get("/docs/start.js").body()).contains("\"/openapi.json\"");
        for (String asset : List.of("/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/start.js")) {
            assertThat(page).contains(asset);
            assertThat(service.get(asset).statusCode()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/actuator", "/actuator/health", "/prometheus", "/metrics/jvm", "/env", "/error", "/"})
    void nothing_else_is_served(String path) {
        HttpResponse<String> answer = service.get(path);
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).contains("\"009\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/health", "/strategies", "/metrics", "/openapi.json", "/docs"})
    void what_the_client_accepts_is_ignored(String path) {
        for (String accepted : List.of("text/csv", "image/*;q=x", "")) {
            HttpRequest request =
                    service.to(path).header("Accept", accepted).GET().build();
            assertThat(service.send(request).statusCode()).as(accepted).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "kernel=%6coops,200",
        "x=%zz&kernel=native,200",
        "kernel=%zz,422",
        "kernel,422",
        "kernel=loops&kernel=loops,422",
        "KERNEL=x,200"
    })
    void a_query_is_read_leniently_and_the_kernel_in_it_strictly(String query, int status) throws Exception {
        String head = "POST /matrix/serial?" + query + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Connection: close\r\nContent-Length: " + RunningService.BODY.length() + "\r\n\r\n";
        assertThat(RawHttp.all(service, head + RunningService.BODY)).startsWith("HTTP/1.1 " + status + " ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NOT HTTP AT ALL\r\n\r\n",
                "GET /<x> HTTP/1.1\r\nHost: x\r\n\r\n",
                "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        + "Content-Length: x\r\n\r\n",
                "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"
            })
    void what_is_not_http_is_refused_and_nothing_is_told(String request) throws Exception {
        assertThat(RawHttp.all(service, request))
                .startsWith("HTTP/1.1 400 ")
                .doesNotContain("Tomcat", "Exception", "\tat ");
    }
}
