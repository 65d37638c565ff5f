package org.restbench.affinity;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import net.openhft.affinity.Affinity;

/**
 * Pins through OpenHFT's {@code Affinity.setAffinity} and believes only what {@code /proc} says afterwards. The
 * library's {@code AffinityLock} is not used: it hands out core 0 never, escapes {@code taskset}, and where it has no
 * core left it goes on unpinned.
 */
public final class OpenHftAffinity implements CoreAffinity {
    private static final String ALLOWED = "Cpus_allowed_list:";

    @Override
    public BitSet coresOfProcess() {
        return allowedIn(Path.of("/proc/self/status"));
    }

    /**
     * Asks the kernel through the library, which is quicker than {@code /proc}: it is asked before every pinned
     * request.
     */
    @Override
    public BitSet coresOfCurrentThread() {
        return Affinity.getAffinity();
    }

    @Override
    public void pinCurrentThread(int core) {
        BitSet asked = new BitSet();
        asked.set(core);
        try {
            Affinity.setAffinity(asked);
        } catch (IllegalStateException | IllegalArgumentException | LinkageError refused) {
            throw new PinRefused("the pin to core " + core + " was refused by the operating system");
        }
        BitSet got = allowedIn(Path.of("/proc/thread-self/status"));
        if (!got.equals(asked)) {
            throw new PinRefused("the pin to core " + core + " was refused: the thread may run on cores " + got);
        }
    }

    private static BitSet allowedIn(Path status) {
        try {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith(ALLOWED)) {
                    return CoreList.parse(line.substring(ALLOWED.length()).trim());
                }
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException("cannot read " + status + " (the service needs Linux)", unreadable);
        }
        throw new IllegalStateException("no " + ALLOWED + " in " + status);
    }
}
