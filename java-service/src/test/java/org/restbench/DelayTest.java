package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ?delay=MS} over HTTP. */
class DelayTest {
    static final double ROUNDING_MILLIS = 0.01;

    private static final String LONG = "60000";
    private static final Map<String, String> LIMITS =
            Map.of("RESTBENCH_MAX_DELAY_MILLIS", LONG, "RESTBENCH_MAX_IN_FLIGHT", "4");

    static double delayMillis(HttpResponse<String> answer) {
        String timing = answer.headers().firstValue("Server-Timing").orElseThrow();
        assertThat(timing).matches("delay;dur=[0-9.]+, queue;dur=[0-9.]+, parse;.*");
        return Double.parseDouble(timing.substring("delay;dur=".length(), timing.indexOf(',')));
    }

    /** Of all stages: each moment is in one of them at most. */
    static double stagesMillis(HttpResponse<String> answer) {
        String timing = answer.headers().firstValue("Server-Timing").orElseThrow();
        return Arrays.stream(timing.split(", "))
                .mapToDouble(stage -> Double.parseDouble(stage.substring(stage.indexOf('=') + 1)))
                .sum();
    }

    /** Longer than the server lets a sender be silent. */
    @ParameterizedTest
    @MethodSource("org.restbench.LifecycleTest#servers")
    void every_server_waits_at_least_as_long_as_asked_and_says_how_long(String framework) {
        try (RunningService service =
                RunningService.under(framework, Map.of("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "2"))) {
            long begunNanos = System.nanoTime();
            var serial = service.multiplyLater("serial?delay=2500");
            var pinned = service.multiplyLater("pinned?delay=2500");
            CompletableFuture.anyOf(serial, pinned).join();
            assertThat(System.nanoTime() - begunNanos).isGreaterThanOrEqualTo(2_500_000_000L);
            for (HttpResponse<String> answer : List.of(serial.join(), pinned.join())) {
                assertThat(answer.body()).isEqualTo(RunningService.PRODUCT);
                assertThat(delayMillis(answer)).isGreaterThanOrEqualTo(2500);
                double tookMillis = (System.nanoTime() - begunNanos) / 1e6;
                assertThat(stagesMillis(answer)).isLessThan(tookMillis + ROUNDING_MILLIS);
            }
            assertThat(delayMillis(service.multiply("serial?kernel=native&delay=0")))
                    .isNotNegative();
            assertThat(service.multiply("serial").headers().firstValue("Server-Timing"))
                    .hasValueSatisfying(timing -> assertThat(timing).startsWith("queue;"));
            assertThat(service.get("/metrics").body())
                    .contains("restbench_requests_delayed 0.0", "restbench_requests_in_flight 0.0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tomcat", "vertx"})
    void who_waits_keeps_no_thread_and_no_worker_from_others(String framework) throws Exception {
        try (RunningService service = RunningService.under(framework, LIMITS)) {
            Stream.of("serial", "pinned").forEach(each -> service.multiplyLater(each + "?delay=" + LONG));
            service.awaitDelayed(2);
            for (String each : List.of("serial", "pinned", "serial?delay=0")) {
                assertThat(service.multiply(each).body()).isEqualTo(RunningService.PRODUCT);
            }
            assertThat(service.get("/metrics").body()).contains("restbench_requests_in_flight 2.0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tomcat", "vertx"})
    void what_a_body_has_wrong_is_said_after_the_wait_and_what_is_refused_unread_at_once(String framework)
            throws Exception {
        RunningService service = RunningService.under(framework, LIMITS);
        CompletableFuture<HttpResponse<String>> malformed;
        try (service) {
            malformed = CompletableFuture.supplyAsync(
                    () -> post(service, "/matrix/serial", "application/json"), task -> new Thread(task).start());
            service.awaitDelayed(1);
            assertThat(post(service, "/matrix/nothing", "application/json").body())
                    .contains("\"009\"");
            assertThat(post(service, "/matrix/serial", "text/plain").body()).contains("\"009\"");
            assertThat(malformed).isNotDone();
        }
        assertThat(malformed.join().body()).contains("\"002\"");
    }

    private static HttpResponse<String> post(RunningService service, String path, String contentType) {
        return service.post(path + "?delay=" + LONG, contentType, "{");
    }

    @Test
    void the_limit_is_a_setting_that_health_shows_and_0_turns_delays_off() {
        try (RunningService service = new RunningService(Map.of("RESTBENCH_MAX_DELAY_MILLIS", "0"))) {
            assertThat(service.get("/health").body()).contains("\"maxDelayMillis\":0");
            assertThat(service.multiply("serial?delay=0").statusCode()).isEqualTo(200);
            assertThat(service.multiply("serial?delay=1").body())
                    .contains("\"003\"", "\"delay: must be a whole number of milliseconds from 0 to 0\"");
        }
    }
}
