package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.settings.Settings;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.PortInUseException;

/** How the server of each framework starts and stops. */
@ExtendWith(OutputCaptureExtension.class)
class LifecycleTest {
    /** One framework of each server: under {@code servlet} it is Tomcat's as well, called by the same code. */
    static Stream<String> servers() {
        return FrameworksTest.frameworks().filter(framework -> !framework.equals("servlet"));
    }

    /** From a thread of its own. */
    static CompletableFuture<Void> stop(RunningService service) {
        return CompletableFuture.runAsync(service::close, task -> new Thread(task).start());
    }

    /** Which ProcessTest has told in a line. */
    @ParameterizedTest
    @MethodSource("servers")
    void a_port_in_use_is_an_exception_that_names_it_and_no_stack_trace_in_the_log(String framework, CapturedOutput log)
            throws IOException {
        try (ServerSocket taken = new ServerSocket(0)) {
            int port = taken.getLocalPort();
            Map<String, String> there =
                    Map.of("RESTBENCH_PORT", Integer.toString(port), "RESTBENCH_FRAMEWORK", framework);
            Throwable thrown = catchThrowable(Application.builder(Settings.from(there), new OpenHftAffinity())::run);
            while (!(thrown instanceof PortInUseException) && thrown.getCause() != null) {
                thrown = thrown.getCause();
            }
            assertThat(thrown)
                    .isInstanceOfSatisfying(
                            PortInUseException.class,
                            it -> assertThat(it.getPort()).isEqualTo(port));
            assertThat(log.getAll()).doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void told_to_stop_it_answers_what_is_in_flight_and_takes_nothing_new(String framework) throws Exception {
        Map<String, String> patient = Map.of(
                "RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "200",
                "RESTBENCH_STOP_TIMEOUT_SECONDS", "200",
                "RESTBENCH_MAX_DELAY_MILLIS", "60000");
        RunningService service = RunningService.under(framework, patient);
        int port = service.port();
        try (service;
                Socket slow = new Socket("127.0.0.1", port)) {
            OutputStream out = slow.getOutputStream();
            out.write(RawHttp.multiplication("pinned", 20));
            CompletableFuture<HttpResponse<String>> delayed = service.multiplyLater("serial?delay=60000");
            service.awaitDelayed(1);
            service.awaitMetric("restbench_requests_in_flight 2.0");
            CompletableFuture<Void> stopped = stop(service);
            assertThat(delayed.join().body()).isEqualTo(RunningService.PRODUCT);
            assertThat(DelayTest.delayMillis(delayed.join()))
                    .as("the rest is not waited for")
                    .isLessThan(60_000);
            RawHttp.awaitRefusal(port);
            out.write(RunningService.BODY.substring(20).getBytes(StandardCharsets.UTF_8));
            String answer = new String(slow.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 200 ").endsWith(RunningService.PRODUCT);
            stopped.join();
        }
    }

    /** Its client has an hour. */
    @ParameterizedTest
    @MethodSource("servers")
    void a_request_that_never_ends_keeps_the_service_from_stopping_no_longer_than_it_may(String framework)
            throws Exception {
        Map<String, String> bound =
                Map.of("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "3600", "RESTBENCH_STOP_TIMEOUT_SECONDS", "1");
        try (RunningService service = RunningService.under(framework, bound);
                Socket stuck = new Socket("127.0.0.1", service.port())) {
            stuck.getOutputStream().write(RawHttp.multiplication("serial", 1));
            service.awaitMetric("restbench_requests_in_flight 1.0");
            assertThat(stop(service)).as("which is 30 s by default").succeedsWithin(Duration.ofSeconds(25));
        }
    }

    /** The end of the loop waits for it, too. */
    @ParameterizedTest
    @ValueSource(strings = {"vertx", "reactor-netty"})
    void nor_does_one_that_the_event_loop_runs(String framework) throws Exception {
        Map<String, String> bound = Map.of("RESTBENCH_HANDOFF", "loop", "RESTBENCH_STOP_TIMEOUT_SECONDS", "1");
        try (RunningService service = RunningService.under(framework, bound, new TestWorkloads.Gated());
                Socket running = new Socket("127.0.0.1", service.port())) {
            running.getOutputStream().write(RawHttp.multiplication("serial", RunningService.BODY.length()));
            TestWorkloads.Gated.ENTERED.acquire();
            try {
                assertThat(stop(service)).succeedsWithin(Duration.ofSeconds(25));
            } finally {
                TestWorkloads.Gated.LET_THROUGH.release();
            }
        }
    }
}
