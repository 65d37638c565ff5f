package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.framework.Framework;
import org.restbench.framework.Frameworks;

/** The service as a process of its own: its exit codes, and its cores as the operating system sees them. */
@Timeout(300)
class ProcessTest {
    private static void exitsWith(int code, String line, Map<String, String> environment) throws Exception {
        Process process = ServiceProcess.launch(environment, ServiceProcess.java());
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(code);
        assertThat(output.lines()).last().isEqualTo("restbench: " + line);
        assertThat(output).doesNotContain("\tat ");
    }

    @Test
    void a_bad_setting_is_one_line_and_exit_code_2() throws Exception {
        exitsWith(2, "RESTBENCH_PORT=x: must be an integer from 0 to 65535", Map.of("RESTBENCH_PORT", "x"));
    }

    @Test
    void an_unknown_framework_is_one_line_with_those_there_are_and_exit_code_2() throws Exception {
        String line = "RESTBENCH_FRAMEWORK=undertow: must be one of " + String.join(", ", frameworks());
        exitsWith(2, line, Map.of("RESTBENCH_FRAMEWORK", "undertow"));
    }

    static List<String> frameworks() {
        return Frameworks.ALL.stream().map(Framework::name).toList();
    }

    /** One framework of each server. */
    static Stream<String> servers() {
        return frameworks().stream().filter(framework -> !framework.equals("servlet"));
    }

    @ParameterizedTest
    @MethodSource("servers")
    void a_port_in_use_is_told_with_its_mend_and_exit_code_1(String framework) throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            String port = Integer.toString(taken.getLocalPort());
            String line = "port " + port + " is in use; set RESTBENCH_PORT to another";
            exitsWith(1, line, Map.of("RESTBENCH_PORT", port, "RESTBENCH_FRAMEWORK", framework));
        }
    }

    /** The first and the last that there is: of a large machine not each. */
    static IntStream cores() {
        BitSet all = new OpenHftAffinity().coresOfProcess();
        return IntStream.of(all.nextSetBit(0), all.length() - 1).distinct();
    }

    @ParameterizedTest
    @MethodSource("cores")
    void under_taskset_the_pinned_worker_stays_on_the_core_it_was_given(int core) throws Exception {
        List<String> command = new ArrayList<>(List.of("taskset", "-c", Integer.toString(core)));
        command.addAll(ServiceProcess.java());
        try (ServiceProcess service = ServiceProcess.start(Map.of(), command)) {
            assertThat(service.get("/health")).contains("\"cores\":[" + core + "]");
            assertThat(service.post("/matrix/pinned", RunningService.BODY).body())
                    .isEqualTo(RunningService.PRODUCT);
            assertThat(maskOf(service.pid(), "pinned-1")).isEqualTo(Integer.toString(core));
        }
    }

    static Stream<Arguments> signals() {
        return Stream.concat(
                frameworks().stream().map(framework -> arguments(framework, "TERM")),
                Stream.of(arguments("tomcat", "INT")));
    }

    @ParameterizedTest
    @MethodSource("signals")
    void told_to_stop_it_answers_what_is_in_flight_takes_nothing_new_and_exits_with_0(String framework, String signal)
            throws Exception {
        Map<String, String> patient = Map.of(
                "RESTBENCH_FRAMEWORK",
                framework,
                "RESTBENCH_RECEIVE_TIMEOUT_SECONDS",
                "200",
                "RESTBENCH_STOP_TIMEOUT_SECONDS",
                "200");
        try (ServiceProcess service = ServiceProcess.start(patient, ServiceProcess.java());
                Socket slow = new Socket("127.0.0.1", service.port())) {
            String head = "POST /matrix/pinned HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Content-Length: " + RunningService.BODY.length() + "\r\n\r\n";
            OutputStream out = slow.getOutputStream();
            out.write((head + RunningService.BODY.substring(0, 20)).getBytes(StandardCharsets.UTF_8));
            while (!service.get("/metrics").contains("restbench_requests_in_flight 1.0")) {
                Thread.sleep(10);
            }
            service.signal(signal);
            awaitRefusal(service.port());
            service.signal(signal);
            service.signal("TERM");
            out.write(RunningService.BODY.substring(20).getBytes(StandardCharsets.UTF_8));
            String answer = new String(slow.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 200 ").endsWith(RunningService.PRODUCT);
            assertThat(service.exitCode()).as(service.output().toString()).isZero();
        }
    }

    /** Spring's own patience with what does not say that it has stopped is 10 s. */
    @ParameterizedTest
    @MethodSource("frameworks")
    void with_nothing_in_flight_it_stops_long_before_its_patience_ends(String framework) throws Exception {
        Map<String, String> patient = Map.of("RESTBENCH_FRAMEWORK", framework, "RESTBENCH_STOP_TIMEOUT_SECONDS", "200");
        try (ServiceProcess service = ServiceProcess.start(patient, ServiceProcess.java())) {
            assertThat(service.get("/health")).contains(framework);
            service.terminate();
            assertThat(service.endsWithin(8)).isTrue();
            assertThat(service.exitCode()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void a_request_that_never_ends_keeps_the_service_from_stopping_no_longer_than_it_may(String framework)
            throws Exception {
        Map<String, String> bound = Map.of(
                "RESTBENCH_FRAMEWORK",
                framework,
                "RESTBENCH_STOP_TIMEOUT_SECONDS",
                "1",
                "RESTBENCH_RECEIVE_TIMEOUT_SECONDS",
                "3600");
        try (ServiceProcess service = ServiceProcess.start(bound, ServiceProcess.java());
                Socket stuck = new Socket("127.0.0.1", service.port())) {
            stuck.getOutputStream()
                    .write(("POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                    + "Content-Length: 100\r\n\r\n{")
                            .getBytes(StandardCharsets.UTF_8));
            while (!service.get("/metrics").contains("restbench_requests_in_flight 1.0")) {
                Thread.sleep(10);
            }
            service.terminate();
            assertThat(service.exitCode()).as("its client has an hour").isZero();
        }
    }

    private static void awaitRefusal(int port) throws InterruptedException {
        while (true) {
            try {
                new Socket("127.0.0.1", port).close();
                Thread.sleep(10);
            } catch (IOException refused) {
                return;
            }
        }
    }

    /** The cores that the operating system lets a thread run on, found by its name as the harness does. */
    private static String maskOf(long process, String thread) throws IOException {
        try (var tasks = Files.newDirectoryStream(Path.of("/proc/" + process + "/task"))) {
            for (Path task : tasks) {
                List<String> status = statusOf(task);
                if (status.contains("Name:\t" + thread)) {
                    String line = status.stream()
                            .filter(it -> it.startsWith("Cpus_allowed_list:"))
                            .findFirst()
                            .orElseThrow();
                    return line.substring(line.indexOf('\t') + 1);
                }
            }
        }
        throw new IllegalStateException("no thread " + thread);
    }

    /** Empty for a thread that has ended since it was listed. */
    private static List<String> statusOf(Path task) {
        try {
            return Files.readAllLines(task.resolve("status"));
        } catch (IOException ended) {
            return List.of();
        }
    }
}
