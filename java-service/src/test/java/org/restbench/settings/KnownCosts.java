package org.restbench.settings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.restbench.affinity.OpenHftAffinity;

/** A calibration as a service of this build finds it here: tests need not measure, and choose alike on any machine. */
public final class KnownCosts {
    private static final List<String> KINDS =
            List.of("matrix loops", "matrix native", "npb IS", "npb CG", "npb MG", "npb FT");

    private KnownCosts() {}

    /** The file, written anew. */
    public static Path file() {
        Properties costs = new Properties();
        costs.setProperty(
                "measuredOn",
                Fingerprint.of(new OpenHftAffinity().coresOfProcess().cardinality()));
        costs.setProperty("handoffMedianNanos", "10000");
        for (String kind : KINDS) {
            costs.setProperty(kind + ".nanosPerByte", "4");
            costs.setProperty(kind + ".nanosPerOperation", "1");
        }
        Path file = Path.of("target", "known.calibration").toAbsolutePath();
        try (Writer text = Files.newBufferedWriter(file)) {
            costs.store(text, null);
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
        return file;
    }
}
