package org.restbench.settings;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.stream.Stream;

/** What measured costs depend on: this version of the service, this Java and this machine. */
final class Fingerprint {
    private static final String BUILD = "/META-INF/build-info.properties";

    private Fingerprint() {}

    static String of(int cores) {
        return String.join(
                "; ",
                "restbench " + version(),
                System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"),
                processor() + " x " + cores);
    }

    private static String version() {
        Properties build = new Properties();
        try (InputStream file = Fingerprint.class.getResourceAsStream(BUILD)) {
            if (file != null) {
                build.load(file);
            }
        } catch (IOException unreadable) {
            return "unknown"; // only the calibration's key: nothing else is decided by it
        }
        return build.getProperty("build.version", "unknown");
    }

    /** The model, where the kernel tells it (not on every architecture). */
    private static String processor() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException unreadable) {
            return System.getProperty("os.arch");
        }
    }
}
