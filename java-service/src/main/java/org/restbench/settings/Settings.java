package org.restbench.settings;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * All settings of the service, read from the environment once.
 *
 * @param host address to listen on ({@code RESTBENCH_HOST})
 * @param port to listen on, 0 for any free one ({@code RESTBENCH_PORT})
 * @param limits what is refused
 * @param deadlines what is not waited for
 * @param pinnedWorkers threads of the strategy pinned, a core each ({@code RESTBENCH_PINNED_WORKERS}; 1 as in the
 *     study)
 * @param pipelineQueue requests that may wait before each stage of the strategy pipeline
 *     ({@code RESTBENCH_PIPELINE_QUEUE}; a few are enough to keep the slowest stage, which decides the throughput, from
 *     ever waiting, and each one more only holds memory)
 * @param calibrationFile where {@code adaptive} keeps what it measured ({@code RESTBENCH_CALIBRATION_FILE}; in Java's
 *     folder of temporary files), null for nowhere
 */
public record Settings(
        String host,
        int port,
        Limits limits,
        Deadlines deadlines,
        int pinnedWorkers,
        int pipelineQueue,
        Path calibrationFile) {

    /** @throws InvalidSetting at the first bad value */
    public static Settings from(Map<String, String> variables) {
        Environment environment = new Environment(variables);
        return new Settings(
                environment.host("RESTBENCH_HOST", "127.0.0.1"),
                environment.integer("RESTBENCH_PORT", 8080, 0, 65_535),
                Limits.from(environment, Runtime.getRuntime().maxMemory()),
                Deadlines.from(environment),
                environment.integer("RESTBENCH_PINNED_WORKERS", 1, 1, 1024),
                environment.integer("RESTBENCH_PIPELINE_QUEUE", 4, 1, 4096),
                environment.file("RESTBENCH_CALIBRATION_FILE", defaultCalibrationFile()));
    }

    /** One for each user: what belongs to another is not believed. */
    static Path defaultCalibrationFile() {
        String user = System.getProperty("user.name").replaceAll("\\W", "_");
        return Path.of(System.getProperty("java.io.tmpdir"), "restbench-java-" + user + ".calibration");
    }

    /** For {@code /health}: what the service was started with. */
    public Map<String, Object> shown(Cores cores) {
        Map<String, Object> shown = new LinkedHashMap<>();
        limits.show(shown);
        deadlines.show(shown);
        shown.put("pinnedWorkers", pinnedWorkers);
        shown.put("pinnedCores", cores.pinned());
        shown.put("pipelineQueue", pipelineQueue);
        return shown;
    }
}
