package restbench.trials;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.jmeter.util.JMeterUtils;

/**
 * Reads the wall clock, and the CPU time that the service, the load generator and the machine have used so far.
 *
 * @param pids the processes of the service
 */
record Clocks(List<Long> pids) {

    private static final long OURS = ProcessHandle.current().pid();
    private static final Path MACHINE = Path.of("/proc/stat");
    /** The lines of {@code /proc/stat} that count: {@code cpu} is all cores, {@code cpu0} the first. */
    private static final Set<String> COUNTED =
            Set.of(JMeterUtils.getPropDefault("cpus", "cpu").split(","));

    /**
     * The indices of user and system time in {@code /proc/<pid>/stat}, counted after the command's name, which may
     * contain any character.
     */
    private static final int USER_TIME = 11;

    private static final int SYSTEM_TIME = 12;
    /** A tick of the kernel's clock for CPU times: USER_HZ, 100 on every architecture that JVMs run on. */
    private static final long MILLIS_PER_TICK = 10;

    /** Fields of a line of {@code /proc/stat}, from 1: user, nice, system, idle, iowait, irq, softirq, steal. */
    private static final int IDLE = 4;

    private static final int WAITING = 5;
    private static final int STEAL = 8;

    static Clocks of(String pids) {
        return new Clocks(Arrays.stream(pids.split(",")).filter(each -> !each.isEmpty()).map(Long::valueOf).toList());
    }

    /**
     * The clocks at one moment.
     *
     * @param nanos of {@link System#nanoTime}
     * @param epochMillis since the epoch
     * @param serviceMillis CPU time of the service's processes
     * @param loadMillis CPU time of this process
     * @param busyMillis CPU time of all processes on the cores that count, without what the hypervisor took away
     * @param stealMillis CPU time of these cores that the hypervisor took away
     */
    record Mark(long nanos, long epochMillis, long serviceMillis, long loadMillis, long busyMillis, long stealMillis) {}

    /** Reads all clocks now. */
    Mark now() {
        long service = pids.stream().mapToLong(Clocks::cpuMillis).sum();
        long load = cpuMillis(OURS);
        long busy = 0;
        long steal = 0;
        try {
            String text = Files.readString(MACHINE, StandardCharsets.ISO_8859_1);
            for (String line : text.lines().takeWhile(each -> each.startsWith("cpu")).toList()) {
                String[] fields = line.split(" +");
                for (int place = 1; COUNTED.contains(fields[0]) && place <= STEAL; place++) {
                    long millis = Long.parseLong(fields[place]) * MILLIS_PER_TICK;
                    if (place == STEAL) {
                        steal += millis;
                    } else if (place != IDLE && place != WAITING) {
                        busy += millis;
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(MACHINE + " cannot be read", e);
        }
        return new Mark(System.nanoTime(), System.currentTimeMillis(), service, load, busy, steal);
    }

    /** CPU time of a process in milliseconds; 0 where the process has ended: the harness checks which of them run. */
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
