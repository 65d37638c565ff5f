package org.restbench.core;

import org.restbench.execution.StageClock;

/** The header that tells a client how long its request spent in each stage. */
final class ServerTiming {
    private ServerTiming() {}

    static String of(StageClock clock) {
        StringBuilder header = new StringBuilder(96);
        append(header, "queue", clock.queueNanos());
        append(header.append(", "), "parse", clock.parseNanos());
        append(header.append(", "), "compute", clock.computeNanos());
        append(header.append(", "), "serialize", clock.serializeNanos());
        return header.toString();
    }

    /** {@code name;dur=1.234}: milliseconds, rounded to three decimals. */
    private static void append(StringBuilder header, String name, long nanos) {
        long micros = (nanos + 500) / 1000;
        header.append(name).append(";dur=").append(micros / 1000).append('.');
        String decimals = Long.toString(1000 + micros % 1000);
        header.append(decimals, 1, 4);
    }
}
