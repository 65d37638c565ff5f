package org.restbench.affinity;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.function.Supplier;
import net.openhft.affinity.Affinity;

/**
 * Pins through OpenHFT's {@code Affinity.setAffinity} and checks the result in {@code /proc}. The library's
 * {@code AffinityLock} is not used: it never assigns core 0, ignores the {@code taskset} mask, and goes on unpinned
 * where no core is left.
 */
public final class OpenHftAffinity implements CoreAffinity {
    private static final String ALLOWED = "Cpus_allowed_list:";

    @Override
    public BitSet coresOfProcess() {
        return allowedIn(Path.of("/proc/self"));
    }

    @Override
    public Supplier<BitSet> pinCurrentThread(int core) {
        BitSet asked = new BitSet();
        asked.set(core);
        try {
            Affinity.setAffinity(asked);
        } catch (IllegalStateException | IllegalArgumentException | LinkageError refused) {
            throw new PinRefused("the pin to core " + core + " was refused by the operating system");
        }
        Path thread = currentThread();
        BitSet got = allowedIn(thread);
        if (!got.equals(asked)) {
            throw new PinRefused("the pin to core " + core + " was refused: the thread may run on cores " + got);
        }
        return () -> allowedIn(thread);
    }

    /** The current thread's folder under {@code /proc}, by number, so that any thread can read it. */
    private static Path currentThread() {
        Path link = Path.of("/proc/thread-self");
        try {
            return link.toRealPath();
        } catch (IOException unreadable) {
            throw unreadable(link, unreadable);
        }
    }

    private static BitSet allowedIn(Path processOrThread) {
        Path status = processOrThread.resolve("status");
        try {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith(ALLOWED)) {
                    return parse(line.substring(ALLOWED.length()).trim());
                }
            }
        } catch (IOException unreadable) {
            throw unreadable(status, unreadable);
        }
        throw new IllegalStateException("no " + ALLOWED + " in " + status);
    }

    private static UncheckedIOException unreadable(Path path, IOException cause) {
        return new UncheckedIOException("cannot read " + path + " (the service needs Linux)", cause);
    }

    /** @param list of cores as the kernel writes it, e.g. {@code 0-3,8} */
    static BitSet parse(String list) {
        BitSet cores = new BitSet();
        for (String range : list.split(",")) {
            int dash = range.indexOf('-');
            int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
            int last = Integer.parseInt(range.substring(dash + 1));
            cores.set(first, last + 1);
        }
        return cores;
    }
}
