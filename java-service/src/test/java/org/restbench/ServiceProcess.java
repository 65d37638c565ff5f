package org.restbench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The service as a process of its own, on a free port. */
final class ServiceProcess extends ServiceUnderTest implements AutoCloseable {
    private static final Pattern LISTENING = Pattern.compile("listening on http://127\\.0\\.0\\.1:([0-9]+),");

    private final Process process;
    private final List<String> output = Collections.synchronizedList(new ArrayList<>());
    private final int port;
    private final Thread reader;

    private ServiceProcess(Process process) throws IOException {
        this.process = process;
        BufferedReader lines = process.inputReader();
        port = awaitPort(lines);
        reader = new Thread(() -> lines.lines().forEach(output::add));
        reader.start();
    }

    /** @param command before the class path: a wrapper, java, its options; see {@link #java} */
    static ServiceProcess start(Map<String, String> environment, List<String> command) throws IOException {
        Map<String, String> anyPort = new HashMap<>(environment);
        anyPort.put("RESTBENCH_PORT", "0");
        return new ServiceProcess(launch(anyPort, command));
    }

    static Process launch(Map<String, String> environment, List<String> command) throws IOException {
        // whoever runs the tests in the background ignores INT, and a process inherits that
        List<String> whole = new ArrayList<>(List.of("env", "--default-signal=INT"));
        whole.addAll(command);
        whole.addAll(List.of("-cp", System.getProperty("java.class.path"), Application.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(whole).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("RESTBENCH_"));
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** This Java, with options. It starts sooner than it would by default; nothing is measured here. */
    static List<String> java(String... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(options));
        return command;
    }

    private int awaitPort(BufferedReader lines) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            output.add(line);
            Matcher listening = LISTENING.matcher(line);
            if (listening.find()) {
                return Integer.parseInt(listening.group(1));
            }
        }
        throw new IllegalStateException("the service did not come up: " + output);
    }

    long pid() {
        return process.pid();
    }

    @Override
    int port() {
        return port;
    }

    /** @param name without SIG */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start().waitFor();
    }

    /** Waits for its end, two minutes; what it wrote is whole then. */
    int exitCode() throws InterruptedException {
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the service does not end: " + output);
        }
        reader.join();
        return process.exitValue();
    }

    /** What it has written; whole after {@link #exitCode}. */
    List<String> output() {
        synchronized (output) {
            return List.copyOf(output);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
