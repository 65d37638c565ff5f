package org.restbench.execution;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.restbench.execution.Costs.Rate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Costs kept between starts, for one service on one machine. What cannot be read, is of another machine or version, or
 * belongs to somebody else is measured anew; what cannot be written is measured at each start. Both are said.
 */
public final class CalibrationFile {
    private static final Logger LOG = LoggerFactory.getLogger(CalibrationFile.class);
    private static final String KEY = "measuredOn";

    /** By the name of how it is measured: what an older version kept is not read. */
    private static final String HANDOFF = "handoffMedianNanos";

    private static final String PER_BYTE = ".nanosPerByte";
    private static final String PER_OPERATION = ".nanosPerOperation";

    /** Far beyond what any machine needs: a number that is none, or of another unit, is not believed. */
    private static final double MOST_NANOS = 1e7;

    private final Path path;
    private final String key;

    /**
     * @param path null to keep nothing
     * @param key what the costs depend on: of another key they are foreign
     */
    public CalibrationFile(Path path, String key) {
        this.path = path;
        this.key = key;
    }

    /** For the log: a path tells the name of a user, which no client needs to know. */
    @Override
    public String toString() {
        return path == null ? "no file" : path.toString();
    }

    /** The costs of these kinds of work, if they are there and right. */
    Optional<Costs> read(Set<String> kinds) {
        if (path == null || !Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            requireOurs();
            return Optional.of(costs(kept(), kinds));
        } catch (IOException | IllegalArgumentException unusable) {
            LOG.warn("the calibration in {} is not used: {}; measured anew", path, unusable.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Whoever else may write where it lies could make this service choose badly, or with a pipe wait for ever. In a
     * sticky folder nobody else can put another file in the place of ours afterwards.
     */
    private void requireOurs() throws IOException {
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            throw new IllegalArgumentException("it is no file");
        }
        String owner = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName();
        String self = Files.getOwner(Path.of("/proc/self")).getName();
        if (!owner.equals(self) && !owner.equals("root")) {
            throw new IllegalArgumentException("it belongs to " + owner);
        }
    }

    private Properties kept() throws IOException {
        Properties kept = new Properties();
        try (Reader text = Files.newBufferedReader(path)) {
            kept.load(text);
        }
        return kept;
    }

    private Costs costs(Properties kept, Set<String> kinds) {
        if (!key.equals(kept.getProperty(KEY))) {
            throw new IllegalArgumentException("it was measured on: " + kept.getProperty(KEY));
        }
        Map<String, Rate> rates = new LinkedHashMap<>();
        for (String kind : kinds) {
            rates.put(kind, new Rate(number(kept, kind + PER_BYTE), number(kept, kind + PER_OPERATION)));
        }
        return new Costs((long) number(kept, HANDOFF), rates);
    }

    private static double number(Properties kept, String name) {
        String text = kept.getProperty(name, "");
        double nanos = text.isEmpty() ? Double.NaN : Double.parseDouble(text);
        if (!(nanos > 0 && nanos < MOST_NANOS)) {
            throw new IllegalArgumentException(name + " is " + (text.isEmpty() ? "missing" : text));
        }
        return nanos;
    }

    /** Whole or not at all: another service may read it meanwhile. */
    void write(Costs costs) {
        if (path == null) {
            return;
        }
        try {
            Path folder = path.toAbsolutePath().getParent();
            Path whole = Files.createTempFile(folder, path.getFileName().toString(), ".new");
            try {
                try (Writer text = Files.newBufferedWriter(whole, StandardCharsets.UTF_8)) {
                    properties(costs).store(text, "restbench: what adaptive decides by; may be deleted");
                }
                Files.move(whole, path, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(whole);
            }
        } catch (IOException unwritable) {
            LOG.warn("the calibration cannot be kept ({}): it is measured at each start", unwritable.toString());
        }
    }

    private Properties properties(Costs costs) {
        Properties kept = new Properties();
        kept.setProperty(KEY, key);
        kept.setProperty(HANDOFF, Long.toString(costs.handoffNanos()));
        costs.rates().forEach((kind, rate) -> {
            kept.setProperty(kind + PER_BYTE, Double.toString(rate.nanosPerByte()));
            kept.setProperty(kind + PER_OPERATION, Double.toString(rate.nanosPerOperation()));
        });
        return kept;
    }
}
