package org.restbench.execution;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The current thread's scheduling policy, as the kernel tells it: field 41 of its {@code stat} (proc(5)). */
final class SchedulingPolicy {
    static final String IDLE = "5";

    private SchedulingPolicy() {}

    static String ofCurrentThread() {
        try {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            return stat.substring(stat.lastIndexOf(')') + 2).split(" ")[41 - 3];
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
