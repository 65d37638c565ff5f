package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the service refuses because of a limit of its own, over real HTTP. */
class LimitsTest {
    /** Helidon alone reads a chunk whole, however long it is, before it hands over a byte of it. */
    @ParameterizedTest
    @MethodSource("org.restbench.LifecycleTest#servers")
    void a_body_over_the_limit_is_refused_whether_its_length_is_announced_or_not(String framework) throws Exception {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_BODY_BYTES", "1000");
        try (RunningService small = RunningService.under(framework, limit)) {
            String head = "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
            String announced = RawHttp.first(small, head + "Content-Length: 100000000\r\n\r\n");
            assertThat(announced).startsWith("HTTP/1.1 413 ").contains("\"007\"");
            // neither body is ever finished: the answer comes before it has been sent
            String chunked =
                    RawHttp.first(small, head + "Transfer-Encoding: chunked\r\n\r\n1000000\r\n" + " ".repeat(1001));
            assertThat(chunked).startsWith("HTTP/1.1 413 ").contains("\"007\"");
            String exact = RunningService.BODY + " ".repeat(1000 - RunningService.BODY.length());
            String fits = RawHttp.all(
                    small,
                    head + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + exact + "\r\n0\r\n\r\n");
            assertThat(fits).startsWith("HTTP/1.1 200 ").contains("[[58,64],[139,154]]");
            assertThat(small.get("/metrics").body())
                    .contains("restbench_memory_held_bytes 0.0", "restbench_requests_in_flight 0.0");
        }
    }

    @Test
    void the_limit_of_requests_in_flight_is_exact_and_free_again_afterwards() {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_IN_FLIGHT", "3");
        try (RunningService gated = new RunningService(limit, new TestWorkloads.Gated())) {
            List<CompletableFuture<HttpResponse<String>>> all = IntStream.range(0, 10)
                    .mapToObj(i -> gated.multiplyLater("serial"))
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
            assertThat(gated.multiply("serial").statusCode()).isEqualTo(200);
            TestWorkloads.Gated.ENTERED.drainPermits();
        }
    }

    /** One that waited would be one less for others, and would be woken only to write. */
    @ParameterizedTest
    @ValueSource(strings = {"tomcat", "jetty"})
    void no_thread_of_the_server_waits_for_a_strategy_that_has_threads_of_its_own(String framework) throws Exception {
        try (RunningService gated = RunningService.under(framework, Map.of(), new TestWorkloads.Gated())) {
            List<CompletableFuture<HttpResponse<String>>> all = Stream.of("pinned", "pipeline", "worker-pool")
                    .map(gated::multiplyLater)
                    .toList();
            TestWorkloads.Gated.ENTERED.acquireUninterruptibly(3);
            while (RunningService.isAnyThreadIn("org.restbench.framework.ServletExchange")) {
                Thread.sleep(1);
            }
            TestWorkloads.Gated.LET_THROUGH.release(3);
            assertThat(all).allMatch(it -> it.join().statusCode() == 200);
        }
    }

    @Test
    void a_request_for_which_more_threads_would_be_made_than_may_be_is_refused() {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_REQUEST_THREADS", "3");
        try (RunningService few = new RunningService(limit)) {
            HttpResponse<String> refused = few.multiply("thread-per-element");
            assertThat(refused.statusCode()).isEqualTo(413);
            assertThat(refused.body()).contains("\"requestId\":2238", "\"011\"", "\"threads: 4, the limit is 3\"");
            assertThat(few.multiply("thread-pool").body()).isEqualTo(RunningService.PRODUCT);
        }
    }

    @Test
    void one_client_after_its_own_answer_never_meets_a_limit_of_one() {
        Map<String, String> limit = Map.of("RESTBENCH_MAX_IN_FLIGHT", "1");
        try (RunningService narrow = new RunningService(limit)) {
            for (int i = 0; i < 300; i++) {
                assertThat(narrow.multiply("serial").statusCode()).isEqualTo(200);
            }
        }
    }
}
