package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.affinity.OpenHftAffinity;

/** The service as a process of its own: its exit codes, and its cores as the operating system sees them. */
class ProcessTest {
    private static final Pattern LISTENING = Pattern.compile("listening on (http://\\S+),");

    private static Process start(Map<String, String> environment, String... prefix) throws IOException {
        List<String> command = new ArrayList<>(List.of(prefix));
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", // starts sooner; nothing is measured here
                "-cp",
                System.getProperty("java.class.path"),
                Application.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("RESTBENCH_"));
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static void exitsWith(int code, String line, Map<String, String> environment) throws Exception {
        Process process = start(environment);
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
    void a_port_in_use_is_told_with_its_mend_and_exit_code_1() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            String port = Integer.toString(taken.getLocalPort());
            String line = "port " + port + " is in use; set RESTBENCH_PORT to another";
            exitsWith(1, line, Map.of("RESTBENCH_PORT", port));
        }
    }

    static List<Integer> cores() {
        return new OpenHftAffinity().coresOfProcess().stream().boxed().toList();
    }

    @ParameterizedTest
    @MethodSource("cores")
    void under_taskset_the_pinned_worker_stays_on_the_core_it_was_given(int core) throws Exception {
        Process process = start(Map.of("RESTBENCH_PORT", "0"), "taskset", "-c", Integer.toString(core));
        try (BufferedReader output = process.inputReader()) {
            String url = listening(output);
            assertThat(get(url + "/health")).contains("\"cores\":[" + core + "]");
            HttpRequest multiply = HttpRequest.newBuilder(URI.create(url + "/matrix/pinned"))
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString(RunningService.BODY))
                    .build();
            assertThat(HttpClient.newHttpClient()
                            .send(multiply, BodyHandlers.ofString())
                            .body())
                    .isEqualTo(RunningService.PRODUCT);
            assertThat(maskOf(process.pid(), "pinned-1")).isEqualTo(Integer.toString(core));
        } finally {
            process.destroy();
            assertThat(process.waitFor()).isEqualTo(143);
        }
    }

    private static String listening(BufferedReader output) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            lines.add(line);
            Matcher listening = LISTENING.matcher(line);
            if (listening.find()) {
                return listening.group(1);
            }
        }
        throw new IllegalStateException("the service did not come up: " + lines);
    }

    private static String get(String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    }

    /** The cores that the operating system lets a thread run on, found by its name as the harness does. */
    private static String maskOf(long process, String thread) throws IOException {
        try (var tasks = Files.newDirectoryStream(Path.of("/proc/" + process + "/task"))) {
            for (Path task : tasks) {
                List<String> status = Files.readAllLines(task.resolve("status"));
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
}
