package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.IntStream;
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
        for (String strategy : service.strategies("matrix")) {
            HttpResponse<String> answer = service.multiply(strategy);
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
        assertThat(health.get("cores").valueStream().mapToInt(JsonNode::asInt))
                .containsExactly(
                        new OpenHftAffinity().coresOfProcess().stream().boxed().toArray(Integer[]::new));
        assertThat(health.get("settings").get("maxInFlight").asInt()).isEqualTo(256);
    }

    @Test
    void health_shows_what_adaptive_decides_by_and_metrics_what_it_decided() {
        JsonNode adaptive = json("/health").get("adaptive");
        assertThat(adaptive.get("lowPriority").asBoolean()).isTrue();
        assertThat(adaptive.get("longFromMicros").asDouble()).isPositive();
        assertThat(adaptive.get("sharedPoolFromMicros").asDouble()).isPositive();
        String caller = "restbench_decisions_total{decision=\"caller\",strategy=\"adaptive\"} ";
        double before = service.metric(caller);
        IntStream.range(0, 3).forEach(i -> service.multiply("adaptive"));
        assertThat(service.metric(caller) - before).as("each alone").isEqualTo(3);
        for (String other : List.of("shared-pool", "low-priority")) {
            assertThat(service.get("/metrics").body())
                    .contains("restbench_decisions_total{decision=\"" + other + "\",strategy=\"adaptive\"} ");
        }
    }

    @Test
    void strategies_are_those_of_the_design_in_its_order() {
        String virtual = Runtime.version().feature() >= 21 ? " virtual-threads virtual-thread-per-request" : "";
        assertThat(service.strategies("matrix"))
                .containsExactly(("serial thread-pool pinned thread-per-element shared-pool fork-join pipeline "
                                + "worker-pool" + virtual + " adaptive")
                        .split(" "));
        JsonNode keys = json("/strategies").get("strategies");
        assertThat(keys.get(1).get("key").asString()).isEqualTo("M");
        assertThat(keys.get(3).get("key").isNull()).isTrue();
        for (JsonNode offer : keys) {
            boolean hasKernels = !offer.get("name").asString().equals("thread-per-element");
            String taken = hasKernels
                    ? "matrix logs npb-is npb-cg npb-mg npb-ft soap/matrix soap/npb"
                    : "matrix logs soap/matrix";
            assertThat(offer.get("workloads").valueStream().map(JsonNode::asString))
                    .containsExactly(taken.split(" "));
        }
    }

    @Test
    void without_the_address_of_a_database_there_are_no_messages() {
        assertThat(json("/health").has("database")).isFalse();
        assertThat(service.get("/messages/serial/queues").statusCode()).isEqualTo(404);
    }

    /** Micrometer's, which hold up every thread that ends, tell of threads started as well. */
    @Test
    void metrics_tell_threads_by_state_from_our_own_count() {
        String told = service.get("/metrics").body();
        assertThat(told).containsPattern("jvm_threads_states_threads\\{state=\"runnable\"} [1-9]");
        assertThat(told).contains("jvm_threads_live_threads ").doesNotContain("jvm_threads_started");
    }

    @Test
    void the_contract_is_served_as_json_and_as_a_page_that_needs_no_network() {
        JsonNode openApi = json("/openapi.json");
        assertThat(openApi.get("paths").has("/matrix/{strategy}")).isTrue();
        JsonNode codes = openApi.at("/components/schemas/Error/properties/errorCode/enum");
        assertThat(codes.valueStream()).hasSize(16).allMatch(JsonNode::isString);
        String page = service.get("/docs").body();
        assertThat(page).doesNotContain("http://", "https://").contains("rel=\"icon\"");
        assertThat(service.get("/docs/start.js").body()).contains("\"/openapi.json\"");
        for (String asset : List.of("/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/start.js")) {
            assertThat(page).contains(asset);
            assertThat(service.get(asset).statusCode()).isEqualTo(200);
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
        assertThat(RawHttp.first(service, RawHttp.post("/matrix/serial?" + query, RunningService.BODY)))
                .startsWith("HTTP/1.1 " + status + " ");
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
