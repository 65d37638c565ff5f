package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.affinity.OpenHftAffinity;

/**
 * The service as a process of its own: its exit codes, and its cores as the operating system sees them. How each
 * framework starts and stops is LifecycleTest's; that TERM cuts off no answer under any, the probe term-in-flight's.
 */
class ProcessTest {
    private static void exitsWith(int code, String line, Map<String, String> environment) throws Exception {
        Process process = ServiceProcess.launch(environment, ServiceProcess.java());
        CompletableFuture.delayedExecutor(240, TimeUnit.SECONDS)
                .execute(process::destroyForcibly); // one that serves after all
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(code);
        assertThat(output.lines()).last().isEqualTo("restbench: " + line);
        assertThat(output).doesNotContain("\tat ", "WARN ");
        assertThat(output.contains("INFO ")).as("something was started").isEqualTo(code != 2);
    }

    @Test
    void a_bad_setting_is_one_line_and_exit_code_2() throws Exception {
        exitsWith(2, "RESTBENCH_PORT='x': must be an integer from 0 to 65535", Map.of("RESTBENCH_PORT", "x"));
        String line = "RESTBENCH_HANDOFF='loop': must be left out: tomcat has no event loop";
        exitsWith(2, line, Map.of("RESTBENCH_HANDOFF", "loop"));
    }

    @Test
    void a_port_in_use_is_told_with_its_mend_and_exit_code_1() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            String port = Integer.toString(taken.getLocalPort());
            exitsWith(1, "port " + port + " is in use; set RESTBENCH_PORT to another", Map.of("RESTBENCH_PORT", port));
        }
    }

    /** An address of documentation. */
    @ParameterizedTest
    @ValueSource(strings = {"tomcat", "reactor-netty"})
    void an_address_of_another_machine_is_told_and_exit_code_1(String framework) throws Exception {
        Map<String, String> elsewhere = Map.of("RESTBENCH_HOST", "192.0.2.1", "RESTBENCH_FRAMEWORK", framework);
        exitsWith(1, "192.0.2.1:8080: Cannot assign requested address", elsewhere);
    }

    /** The lowest that there is: left to itself the service takes the highest. */
    @Test
    void under_taskset_the_pinned_worker_stays_on_the_core_it_was_given() throws Exception {
        int core = new OpenHftAffinity().coresOfProcess().nextSetBit(0);
        List<String> command = new ArrayList<>(List.of("taskset", "-c", Integer.toString(core)));
        command.addAll(ServiceProcess.java());
        try (ServiceProcess service = ServiceProcess.start(Map.of(), command)) {
            assertThat(service.get("/health").body()).contains("\"cores\":[" + core + "]");
            assertThat(service.multiply("pinned").body()).isEqualTo(RunningService.PRODUCT);
            assertThat(maskOf(service.pid(), "pinned-1")).isEqualTo(Integer.toString(core));
        }
    }

    /** As Ctrl-C does. */
    @Test
    void interrupted_it_answers_what_is_in_flight_whatever_signals_follow_and_exits_with_0() throws Exception {
        Map<String, String> patient =
                Map.of("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "200", "RESTBENCH_STOP_TIMEOUT_SECONDS", "200");
        try (ServiceProcess service = ServiceProcess.start(patient, ServiceProcess.java());
                Socket slow = new Socket("127.0.0.1", service.port())) {
            OutputStream out = slow.getOutputStream();
            out.write(RawHttp.multiplication("pinned", 20));
            service.awaitMetric("restbench_requests_in_flight 1.0");
            service.signal("INT");
            RawHttp.awaitRefusal(service.port());
            service.signal("INT");
            service.signal("TERM");
            out.write(RunningService.BODY.substring(20).getBytes(StandardCharsets.UTF_8));
            String answer = new String(slow.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 200 ").endsWith(RunningService.PRODUCT);
            assertThat(service.exitCode()).as(service.output().toString()).isZero();
        }
    }

    /**
     * Rules over lines cannot be interrupted; these take minutes. Tomcat waits for the one, then the strategies for the
     * other: 13 s, all in all.
     */
    @Test
    void told_to_stop_it_ends_in_time_whatever_it_computes() throws Exception {
        Map<String, String> hasty =
                Map.of("RESTBENCH_STOP_TIMEOUT_SECONDS", "1", "RESTBENCH_MAX_LOOP_OPERATIONS", "999999999999");
        String line = "\"" + "1234567890".repeat(400) + "\"";
        String body = "{\"requestId\":1,\"ruleSet\":\"R1024\",\"lines\":["
                + String.join(",", Collections.nCopies(3000, line)) + "]}";
        try (ServiceProcess service = ServiceProcess.start(hasty, ServiceProcess.java())) {
            for (String strategy : List.of("serial", "pinned")) {
                new Thread(() -> catchThrowable(() -> service.post("/logs/" + strategy, body))).start();
            }
            service.awaitMetric("restbench_requests_in_flight 2.0");
            long begunNanos = System.nanoTime();
            service.signal("TERM");
            assertThat(service.exitCode()).as(service.output().toString()).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - begunNanos)).isLessThan(Duration.ofSeconds(10));
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
