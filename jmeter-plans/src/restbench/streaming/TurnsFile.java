package restbench.streaming;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;

/**
 * Where turns are written down, a line each when it is over: {@code strategy} and two marks, where the part that is measured
 * opens and where it closes.
 *
 * @param path the file, which is appended to
 * @param pids the processes of the service
 */
record TurnsFile(Path path, List<Long> pids) {

    private static final long OURS = ProcessHandle.current().pid();

    /** {@code /proc/<pid>/stat}, after the command's name, which may hold anything: the places of user and system time. */
    private static final int USER_TIME = 11;

    private static final int SYSTEM_TIME = 12;
    /** A tick of the kernel's clock for CPU times: USER_HZ, 100 on every architecture that JVMs run on. */
    private static final long MILLIS_PER_TICK = 10;

    /** The file at a path, and a list of process ids with commas between them. */
    static TurnsFile of(String path, String pids) {
        List<Long> numbers = Arrays.stream(pids.split(",")).filter(each -> !each.isEmpty()).map(Long::valueOf).toList();
        return new TurnsFile(Path.of(path), numbers);
    }

    /** A moment: milliseconds since the epoch, and the CPU time in milliseconds of the service and of the load so far. */
    record Mark(long atMillis, long serviceCpuMillis, long loadCpuMillis) {

        @Override
        public String toString() {
            return atMillis + "," + serviceCpuMillis + "," + loadCpuMillis;
        }
    }

    /** This moment. */
    Mark now() {
        long serviceMillis = pids.stream().mapToLong(TurnsFile::cpuMillis).sum();
        return new Mark(System.currentTimeMillis(), serviceMillis, cpuMillis(OURS));
    }

    void add(String line) {
        try {
            Files.writeString(path, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of a process that is gone 0: the harness looks at which of them live. */
    private static long cpuMillis(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME])) * MILLIS_PER_TICK;
        } catch (IOException e) {
            return 0;
        }
    }
}
