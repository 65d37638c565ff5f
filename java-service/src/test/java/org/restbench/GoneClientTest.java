package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** A client that leaves before it has its answer: no fault of the service's. */
class GoneClientTest {
    private static final Logger ERRORS = (Logger) LoggerFactory.getLogger("org.restbench.framework.ServletExchange");
    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);

    private final Written written = new Written();

    /** All that is logged, also while it is being looked at. */
    private static final class Written extends ListAppender<ILoggingEvent> {
        Written() {
            list = new CopyOnWriteArrayList<>();
        }
    }

    @AfterEach
    void listenNoMore() {
        ROOT.detachAppender(written);
        ERRORS.setLevel(null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tomcat", "jetty"})
    void a_client_gone_before_its_answer_is_neither_an_error_in_the_log_nor_a_500_in_the_metrics(String framework)
            throws Exception {
        try (RunningService service = RunningService.under(framework, Map.of(), new TestWorkloads.Gated())) {
            listen();
            leaveWhileComputing(service, "/matrix/serial");
            leaveWhileComputing(service, "/matrix/pinned");
            while (written.list.size() < 2) {
                Thread.sleep(1);
            }
            service.awaitMetric("restbench_requests_in_flight 0.0"); // which is given back after the line
            assertThat(service.get("/metrics").body())
                    .contains("restbench_requests_total{status=\"200\",strategy=\"serial\",workload=\"matrix\"} 1.0")
                    .doesNotContain("status=\"500\"");
        }
        assertThat(written.list).extracting(ILoggingEvent::getLevel).containsOnly(Level.DEBUG);
    }

    /** One request waits, another behind it has not begun: Vert.x logged a stack trace, Reactor Netty a line. */
    @ParameterizedTest
    @MethodSource("org.restbench.LifecycleTest#servers")
    void a_connection_that_is_reset_is_not_in_the_log(String framework) throws Exception {
        try (RunningService service = RunningService.under(framework, Map.of())) {
            listen();
            try (Socket reset = new Socket("127.0.0.1", service.port())) {
                String request = RawHttp.post("/matrix/pinned?delay=1000", RunningService.BODY);
                reset.getOutputStream().write((request + request).getBytes(StandardCharsets.US_ASCII));
                service.awaitDelayed(1);
                reset.setSoLinger(true, 0);
            }
            service.awaitMetric("restbench_requests_in_flight 0.0");
        }
        assertThat(written.list).extracting(ILoggingEvent::getLevel).doesNotContain(Level.WARN, Level.ERROR);
    }

    /** Found out in time, which is later the longer the last look at the kernel's tables took. */
    @ParameterizedTest
    @MethodSource("org.restbench.LifecycleTest#servers")
    void a_request_whose_client_is_gone_before_its_turn_is_not_run(String framework) throws Exception {
        try (RunningService service = RunningService.under(framework, Map.of(), new TestWorkloads.Gated())) {
            assertThat(List.of(500, 2000, 8000, 30_000)).anyMatch(millis -> isLeftOut(service, millis));
            assertThat(service.get("/metrics").body())
                    .contains("restbench_requests_total{status=\"503\",strategy=\"pinned\",workload=\"matrix\"} 1.0");
        }
    }

    /** Whether a request behind another one is not run where its client has left so long before its turn. */
    private static boolean isLeftOut(RunningService service, int millis) {
        var running = service.multiplyLater("pinned");
        TestWorkloads.Gated.ENTERED.acquireUninterruptibly();
        try {
            try (Socket waiting = new Socket("127.0.0.1", service.port())) {
                int whole = RunningService.BODY.length();
                waiting.getOutputStream().write(RawHttp.multiplication("pinned", whole));
                service.awaitMetric("restbench_requests_in_flight 2.0");
            }
            for (int i = 0; i < 20; i++) {
                service.get("/health"); // the one event loop sees the end of the connection before the last of these
            }
            Thread.sleep(millis);
            TestWorkloads.Gated.LET_THROUGH.release(2);
            assertThat(running.join().statusCode()).isEqualTo(200);
            service.awaitMetric("restbench_requests_in_flight 0.0");
        } catch (IOException | InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
        return !TestWorkloads.Gated.ENTERED.tryAcquire();
    }

    /** Once the service has started: its start gives the log its appenders anew. */
    private void listen() {
        ERRORS.setLevel(Level.DEBUG);
        written.start();
        ROOT.addAppender(written);
    }

    /**
     * Whether Tomcat has not yet let go of a request that is answered later. If sending fails while it does, it may log
     * an error of its own.
     */
    private static boolean isAnyInTomcat() {
        return RunningService.isAnyThreadIn("org.apache.coyote.AbstractProcessorLight");
    }

    /** The answer is larger than what the container holds back, so that sending it meets the closed connection. */
    private static void leaveWhileComputing(RunningService service, String path)
            throws IOException, InterruptedException {
        String body = HostileBodies.elementTimesRow("1000000000000000000,".repeat(999) + "1", 1000);
        try (Socket socket = new Socket("127.0.0.1", service.port())) {
            socket.getOutputStream().write(RawHttp.post(path, body).getBytes(StandardCharsets.ISO_8859_1));
            TestWorkloads.Gated.ENTERED.acquireUninterruptibly();
            while (path.endsWith("pinned") && isAnyInTomcat()) {
                Thread.sleep(1);
            }
            socket.setSoLinger(true, 0); // a reset, so that the first write fails and not only the second
        }
        TestWorkloads.Gated.LET_THROUGH.release();
    }
}
