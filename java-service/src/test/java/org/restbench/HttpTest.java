package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.affinity.RefusingAffinity;
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
    void strategies_are_those_of_the_design_in_its_order() {
        boolean virtual = Runtime.version().feature() >= 21;
        Stream<String> expected =
                Stream.of("serial", "thread-pool", "pinned", "thread-per-element", "shared-pool", "pipeline");
        assertThat(ContractExamplesTest.strategies(service))
                .isEqualTo(Stream.concat(expected, virtual ? Stream.of("virtual-threads") : Stream.empty())
                        .toList());
        JsonNode keys = json("/strategies").get("strategies");
        assertThat(keys.get(1).get("key").asString()).isEqualTo("M");
        assertThat(keys.get(3).get("key").isNull()).isTrue();
        assertThat(keys.get(0).get("workloads").get(0).asString()).isEqualTo("matrix");
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
        assertThat(codes.valueStream()).hasSize(10).allMatch(JsonNode::isString);
        String page = service.get("/docs").body();
        assertThat(page).contains("/openapi.json").doesNotContain("http://", "https://");
        for (String asset : List.of("/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js")) {
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
        assertThat(raw(head + RunningService.BODY)).startsWith("HTTP/1.1 " + status + " ");
    }

    /** Sends bytes as they are and reads until the service closes the connection. */
    private static String raw(String request) throws Exception {
        return raw(service, request);
    }

    private static String raw(RunningService to, String request) throws Exception {
        return exchange(to, request, InputStream::readAllBytes);
    }

    /** Sends bytes as they are and reads up to the end of the first JSON object. */
    private static String firstAnswer(RunningService to, String request) throws Exception {
        return exchange(to, request, in -> {
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            int next = in.read();
            for (; next >= 0 && next != '}'; next = in.read()) {
                answer.write(next);
            }
            return answer.toByteArray();
        });
    }

    /** How much of an answer is read. */
    @FunctionalInterface
    private interface Reading {
        byte[] from(InputStream in) throws IOException;
    }

    private static String exchange(RunningService to, String request, Reading reading) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", to.port())) {
            socket.setSoTimeout(20_000);
            OutputStream out = socket.getOutputStream();
            out.write(request.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
            return new String(reading.from(socket.getInputStream()), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NOT HTTP AT ALL\r\n\r\n",
                "GET /<x> HTTP/1.1\r\nHost: x\r\n\r\n",
                "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: x\r\n\r\n",
                "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"
            })
    void what_is_not_http_is_answered_in_the_contracts_form(String request) throws Exception {
        assertThat(raw(request))
                .startsWith("HTTP/1.1 400 ")
                .contains("Content-Type: application/json", "\"errorCode\":\"002\"")
                .doesNotContain("Tomcat", "<html", "Exception");
    }

    @Test
    void a_connection_serves_more_than_a_hundred_requests() throws Exception {
        String one = "GET /strategies HTTP/1.1\r\nHost: x\r\n";
        String answers = raw((one + "\r\n").repeat(150) + one + "Connection: close\r\n\r\n");
        assertThat(answers.split("HTTP/1.1 200 ", -1)).hasSize(152);
    }

    @Test
    void a_body_over_the_limit_is_refused_whether_its_length_is_announced_or_not() throws Exception {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_BODY_BYTES", "1000");
        try (RunningService small = new RunningService(limit, new OpenHftAffinity())) {
            String head = "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
            String announced = firstAnswer(small, head + "Content-Length: 100000000\r\n\r\n");
            assertThat(announced).startsWith("HTTP/1.1 413 ").contains("\"007\"");
            // neither body is ever finished: the answer comes before it has been sent
            String chunked =
                    firstAnswer(small, head + "Transfer-Encoding: chunked\r\n\r\n1000000\r\n" + " ".repeat(1001));
            assertThat(chunked).startsWith("HTTP/1.1 413 ").contains("\"007\"");
            String exact = RunningService.BODY + " ".repeat(1000 - RunningService.BODY.length());
            String fits = raw(
                    small,
                    head + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + exact + "\r\n0\r\n\r\n");
            assertThat(fits).startsWith("HTTP/1.1 200 ").contains("[[58,64],[139,154]]");
        }
    }

    @Test
    void the_limit_of_requests_in_flight_is_exact_and_free_again_afterwards() {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_IN_FLIGHT", "3");
        try (RunningService gated = new RunningService(limit, new OpenHftAffinity(), TestWorkloads.Gated.class)) {
            List<CompletableFuture<HttpResponse<String>>> all = IntStream.range(0, 10)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> gated.send(gated.multiplication("serial")), task -> new Thread(task).start()))
                    .toList();
            TestWorkloads.Gated.ENTERED.acquireUninterruptibly(3);
            while (all.stream().filter(CompletableFuture::isDone).count() < 7) {
                Thread.onSpinWait();
            }
            assertThat(gated.get("/metrics").body()).contains("restbench_requests_in_flight 3.0");
            TestWorkloads.Gated.LET_THROUGH.release(3);
            List<Integer> statuses =
                    all.stream().map(it -> it.join().statusCode()).sorted().toList();
            assertThat(statuses).containsExactly(200, 200, 200, 503, 503, 503, 503, 503, 503, 503);
            TestWorkloads.Gated.LET_THROUGH.release(1);
            assertThat(gated.send(gated.multiplication("serial")).statusCode()).isEqualTo(200);
            TestWorkloads.Gated.ENTERED.drainPermits();
        }
    }

    @Test
    void one_client_after_its_own_answer_never_meets_a_limit_of_one() {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_IN_FLIGHT", "1");
        try (RunningService narrow = new RunningService(limit, new OpenHftAffinity())) {
            for (int i = 0; i < 300; i++) {
                assertThat(narrow.send(narrow.multiplication("serial")).statusCode())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void a_refused_pin_is_an_error_and_never_a_quiet_unpinned_run() {
        try (RunningService refused = new RunningService(Map.of(), new RefusingAffinity())) {
            HttpResponse<String> answer = refused.send(refused.multiplication("pinned"));
            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(answer.body()).contains("\"099\"", "pin to core", "refused", "\"requestId\":2238");
            assertThat(refused.send(refused.multiplication("serial")).statusCode())
                    .isEqualTo(200);
        }
    }
}
