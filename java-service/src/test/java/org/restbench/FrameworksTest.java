package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.framework.Framework;
import org.restbench.settings.Settings.InvalidSetting;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.server.servlet.ServletWebServerFactory;
import tools.jackson.databind.JsonNode;

/** The table of frameworks, and the service under each of them. The servers of all are on one class path. */
class FrameworksTest {
    private static final int JAVA = Runtime.version().feature();

    @Test
    void helidon_is_there_from_java_21_on() {
        assertThat(Framework.ALL)
                .extracting(Framework::name)
                .startsWith("tomcat", "servlet", "jetty", "reactor-netty", "vertx")
                .hasSize(JAVA < 21 ? 5 : 6);
    }

    @Test
    void who_chooses_one_that_is_not_there_is_told_those_there_are() {
        String there = Framework.ALL.stream().map(Framework::name).collect(Collectors.joining(", "));
        assertThatThrownBy(() -> Framework.named("undertow"))
                .isInstanceOf(InvalidSetting.class)
                .hasMessage("RESTBENCH_FRAMEWORK='undertow': must be one of " + there);
    }

    @Test
    void below_java_21_who_chooses_helidon_is_told_why_there_is_none() {
        assumeTrue(JAVA < 21, "this Java has it");
        assertThatThrownBy(() -> Framework.named("helidon"))
                .isInstanceOf(InvalidSetting.class)
                .hasMessage(
                        "RESTBENCH_FRAMEWORK='helidon': must be one of tomcat, servlet, jetty, reactor-netty, vertx; "
                                + "it needs Java 21, to build the service and to run it");
    }

    static Stream<String> frameworks() {
        return Framework.ALL.stream().map(Framework::name);
    }

    /** From whatever thread an answer comes. {@code contract/run.py} tries all examples under each. */
    @ParameterizedTest
    @MethodSource("frameworks")
    void the_service_is_the_same_under_every_framework(String framework) throws IOException {
        boolean isServlet = Framework.named(framework).kind() == WebApplicationType.SERVLET;
        Map<String, String> patient = Map.of("RESTBENCH_STOP_TIMEOUT_SECONDS", "60");
        try (RunningService service = RunningService.under(framework, patient)) {
            healthNamesFrameworkAndServer(service, framework, isServlet);
            for (ContractExample example : ContractExamplesTest.examples("")) {
                if (example.name().equals("ok-low.json")) { // in JSON and in SOAP, where there is any
                    for (String strategy : service.strategies(example.workload())) {
                        example.check(service.send(example.request(service, strategy, "")));
                    }
                }
            }
            aLongAnswerIsWhole(service);
            aTargetInAbsoluteFormIsTaken(service);
            anAnswerToHeadHasNoBody(service);
            soapIsOfferedByServletContainersAlone(service, isServlet);
            theLogQuotesNoneOf(service);
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

    /** Under Helidon it had one, and a client took it for the next answer on the connection. */
    private static void anAnswerToHeadHasNoBody(RunningService service) throws IOException {
        for (String path : List.of("/health", "/nothing")) {
            String head = "HEAD " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            assertThat(RawHttp.all(service, head))
                    .startsWith("HTTP/1.1 40")
                    .containsOnlyOnce("\r\n\r\n")
                    .endsWith("\r\n\r\n");
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

    /** Jetty quoted the host. */
    private static void theLogQuotesNoneOf(RunningService service) throws IOException {
        ListAppender<ILoggingEvent> written = new ListAppender<>();
        Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
        written.start();
        root.addAppender(written);
        try {
            for (String odd : List.of(
                    "GET /health HTTP/1.1\r\nHost: a/Secret",
                    "GET /health HTTP/1.1\r\nHost: x\r\nHost: Secret",
                    "GET http://Secret:x/health HTTP/1.1\r\nHost: x",
                    "GET /%Secret HTTP/1.1\r\nHost: x",
                    "Secret Secret HTTP/1.1\r\nHost: x",
                    "GET /health HTTP/1.1\r\nHost: x\r\nSe cret: Secret",
                    "GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: Secret",
                    "GET /health HTTP/1.1\r\nHost: x\r\nCookie: Secret=\"")) {
                RawHttp.all(service, odd + "\r\nConnection: close\r\n\r\n");
            }
        } finally {
            root.detachAppender(written);
        }
        assertThat(written.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .allSatisfy(message -> assertThat(message).doesNotContain("Secret"));
    }

    /** Spring's own patience with what does not say that it has stopped is 10 s. */
    private static void withNothingInFlightItStopsLongBeforeItsPatienceEnds(RunningService service) {
        assertThat(LifecycleTest.stop(service)).succeedsWithin(Duration.ofSeconds(8));
    }

    @Test
    void under_helidon_a_request_that_outlasts_an_idle_connection_is_told_that_its_own_ends() throws Exception {
        assumeTrue(JAVA >= 21, "there is no Helidon");
        try (RunningService service = RunningService.under("helidon", Map.of("RESTBENCH_KEEP_ALIVE_SECONDS", "1"))) {
            assertThat(RawHttp.all(service, RawHttp.post("/matrix/serial?delay=1500", RunningService.BODY)))
                    .endsWith(RunningService.PRODUCT)
                    .contains("Connection: close\r\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "vertx,thread,http-vertx-",
        "vertx,loop,vert.x-eventloop-thread-",
        "reactor-netty,thread,http-reactor-",
        "reactor-netty,loop,reactor-loop-"
    })
    void an_event_loop_runs_requests_only_where_it_is_told_to(String framework, String handoff, String thread) {
        Map<String, String> settings = Map.of("RESTBENCH_HANDOFF", handoff);
        try (RunningService service = RunningService.under(framework, settings, new TestWorkloads.Watched())) {
            assertThat(service.get("/health").body()).contains("\"handoff\":\"" + handoff + "\"");
            for (String path : List.of("serial", "serial?delay=1", "pinned", "worker-pool?delay=1")) {
                assertThat(service.multiply(path).body()).isEqualTo(RunningService.PRODUCT);
                assertThat(TestWorkloads.Watched.THREAD.getAndSet(""))
                        .startsWith(path.startsWith("serial") ? thread : path.substring(0, 6));
            }
        }
    }

    @Test
    void where_each_request_has_a_thread_there_is_no_choice_of_one() {
        assertThat(Framework.named("tomcat").handoff(null)).isNull();
        assertThat(Framework.named("vertx").handoff(null)).isEqualTo("thread");
        assertThatThrownBy(() -> Framework.named("tomcat").handoff("loop"))
                .isInstanceOf(InvalidSetting.class)
                .hasMessage("RESTBENCH_HANDOFF='loop': must be left out: tomcat has no event loop");
    }
}
