package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the parts of Server-Timing stand for, each held against what has certainly passed. */
class StageClockTest {
    private static final Pattern PART = Pattern.compile("(\\w+);dur=([0-9]+\\.[0-9]{3})");

    /** Takes so long. */
    private static Void pass(int millis) {
        long from = System.nanoTime();
        while (System.nanoTime() - from < millis * 1_000_000L) {
            Thread.onSpinWait();
        }
        return null;
    }

    private static double millis(String header, String name) {
        Matcher parts = PART.matcher(header);
        while (parts.find()) {
            if (parts.group(1).equals(name)) {
                return Double.parseDouble(parts.group(2));
            }
        }
        throw new AssertionError(name + " is not in " + header);
    }

    @Test
    void queue_is_every_wait_from_the_start_on_and_no_stage() {
        long from = System.nanoTime();
        StageClock clock = new StageClock();
        pass(2);
        clock.parse(() -> pass(3));
        pass(1);
        clock.compute(() -> pass(5));
        clock.serialize(() -> pass(4));
        double tookMillis = (System.nanoTime() - from) / 1e6 + 0.001; // the header is rounded
        pass(7);
        String header = clock.serverTiming(Map.of("part", 1_234_567L));
        assertThat(millis(header, "queue")).isBetween(3.0, tookMillis - 12);
        assertThat(millis(header, "parse")).isBetween(3.0, tookMillis - 12);
        assertThat(millis(header, "compute")).isBetween(5.0, tookMillis - 10);
        assertThat(millis(header, "serialize")).isBetween(4.0, tookMillis - 11);
        assertThat(header).matches("queue;dur=.*, parse;dur=.*, compute;dur=.*, serialize;dur=.*, part;dur=1\\.235");
    }
}
