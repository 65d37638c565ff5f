package org.restbench.execution;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The current thread's nice value, as the kernel tells it: field 19 of its {@code stat} (proc(5)). */
final class NiceValue {
    private NiceValue() {}

    static int ofCurrentThread() {
        try {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19 - 3]);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
