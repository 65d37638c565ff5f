package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** The service shows and lets do nothing that its contract does not list. */
class ClosedByDefaultTest {
    private static final String NOTHING = "default-src 'none'; frame-ancestors 'none'";

    /** The first is none. */
    private static final String[] OF_OTHER_SERVICES = (" env heapdump threaddump beans configprops mappings loggers "
                    + "shutdown info conditions scheduledtasks metrics/jvm metrics/jvm.info actuator actuator/env "
                    + "actuator/health prometheus error jolokia h2-console webjars/")
            .split(" ");

    private static RunningService service;

    @BeforeAll
    static void start() {
        service = RunningService.withDefaults();
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    /** The head of the answer to a request as it is, whatever a client's library thinks of it. */
    private static String head(String requestLine, String... headers) throws Exception {
        String lines = Arrays.stream(headers).map(header -> header + "\r\n").collect(Collectors.joining());
        String answer =
                RawHttp.all(service, requestLine + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + lines + "\r\n");
        return answer.substring(0, answer.indexOf("\r\n\r\n") + 2).toLowerCase(Locale.ROOT);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /strategies",
                "GET /health",
                "GET /metrics",
                "GET /openapi.json",
                "GET /docs",
                "GET /docs/start.js",
                "GET /docs/swagger-ui.css",
                "GET /docs/swagger-ui-bundle.js",
                "GET /nowhere",
                "GET /matrix/serial",
                "POST /matrix/serial",
                "DELETE /health",
                "TRACE /health",
                "OPTIONS /health",
                "HEAD /health"
            })
    void every_response_has_the_security_headers_once_and_no_banner(String requestLine) throws Exception {
        String head = head(requestLine);
        assertThat(head.lines())
                .containsOnlyOnce("x-content-type-options: nosniff", "cache-control: no-store")
                .containsOnlyOnce("referrer-policy: no-referrer")
                .filteredOn(line -> line.startsWith("content-security-policy:"))
                .singleElement()
                .asString()
                .contains("default-src 'none';", "frame-ancestors 'none'");
        assertThat(head).doesNotContain("server:", "x-powered-by", "tomcat");
    }

    @Test
    void an_answer_may_run_nothing_and_the_page_only_files_of_this_service() throws Exception {
        HttpResponse<String> answer = service.multiply("serial");
        assertThat(answer.headers().allValues("Content-Security-Policy")).containsExactly(NOTHING);
        HttpResponse<String> page = service.get("/docs");
        String policy = page.headers().firstValue("Content-Security-Policy").orElse("");
        assertThat(policy).contains("script-src 'self';", "connect-src 'self';").doesNotContain("unsafe", "*");
        assertThat(page.body()).doesNotContain("<script>", "<style", "style=", "onload");
    }

    @Test
    void no_route_shows_or_changes_the_inside_of_the_service() throws Exception {
        for (String path : OF_OTHER_SERVICES) {
            assertThat(head("GET /" + path)).as(path).startsWith("http/1.1 404 ");
            assertThat(head("POST /" + path, "Content-Length: 0")).as(path).startsWith("http/1.1 404 ");
        }
    }

    @Test
    void trace_is_refused_and_echoes_nothing() throws Exception {
        for (String path : List.of("/health", "/matrix/serial")) {
            assertThat(trace(path))
                    .startsWith("HTTP/1.1 405 ")
                    .contains("\"009\"")
                    .doesNotContain("echo", "Secret");
        }
        assertThat(trace("/nothing")).startsWith("HTTP/1.1 404 ").doesNotContain("Allow:");
    }

    private static String trace(String path) throws IOException {
        return RawHttp.all(
                service, "TRACE " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Secret: echo\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Accept: text/csv",
                "Accept: ;;",
                "Accept: image/*;q=x",
                "Content-Type: ;/",
                "Range: bytes=a-b",
                "Expect: x"
            })
    void a_header_that_makes_no_sense_is_never_a_fault_of_the_service(String header) throws Exception {
        String status = header.startsWith("Accept") ? "200 " : "[24]";
        for (String path : List.of("/health", "/strategies", "/metrics", "/docs", "/docs/start.js", "/openapi.json")) {
            assertThat(head("GET " + path, header)).as(path).matches("(?s)http/1.1 " + status + ".*");
        }
    }

    @Test
    void the_log_has_the_id_of_a_failed_request_and_nothing_else_of_it() {
        ListAppender<ILoggingEvent> written = new ListAppender<>();
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        try (RunningService failing = new RunningService(Map.of(), TestWorkloads.FAILING)) {
            written.start();
            root.addAppender(written);
            String id = "a\\n12:00:00.000 ERROR forged\\u0085\\u2028\\u009b31m\\u007f" + "x".repeat(80);
            String body = RunningService.BODY.replace("2238", "\"" + id + "\"").replace("1,2,3", "1,2,987654321");
            for (String strategy : failing.strategies("matrix")) {
                assertThat(failing.post("/matrix/" + strategy, body).statusCode())
                        .isEqualTo(500);
            }
        } finally {
            root.detachAppender(written);
        }
        assertThat(written.list).hasSizeGreaterThan(5).allSatisfy(ClosedByDefaultTest::quotesOnlyTheId);
    }

    private static void quotesOnlyTheId(ILoggingEvent event) {
        assertThat(event.getFormattedMessage())
                .contains("a\\n12:00:00.000 ERROR forged\\u0085\\u2028\\u009b31m\\u007fxxx")
                .hasSizeLessThan(300)
                .matches("[ -~]+");
        assertThat(ThrowableProxyUtil.asString(event.getThrowableProxy()))
                .contains("ArithmeticException", "TestWorkloads")
                .doesNotContain("Secret", "987654321");
    }
}
