package org.restbench.settings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * All settings of the service, read from the environment once. README.md describes each one in a table.
 *
 * @param handoff where a framework with an event loop runs requests, thread or loop; null where it is not set
 * @param maxDelayMillis longest delay that a request may ask for, 0 for none; the default is the longest delay in the
 *     study of calls
 * @param memoryBudgetBytes heap that all requests together may hold; by default half of the heap less the 16 MiB that
 *     the service itself keeps. The rest is for connections, for what a garbage collector wastes at the ends of large
 *     arrays, and for the room that it needs to be quick
 * @param maxThreads threads that all requests under {@code thread-pool} together have at once, and as many virtual
 *     ones. The default is the study's 60 users × 100 threads and some to spare; the least is the 100 of a single
 *     request
 * @param pipelineQueue requests that may wait before compute, and before serialize, of the strategy pipeline. A few are
 *     enough for the slowest stage, which decides the throughput, never to wait; more would only hold memory
 * @param poolThreads threads of the strategy worker-pool; 0 for one per core (20 in the pool of blocking workloads)
 */
public record Settings(
        String host,
        int port,
        String framework,
        String handoff,
        int maxBodyBytes,
        int maxInFlight,
        int maxDelayMillis,
        long memoryBudgetBytes,
        int maxThreads,
        int maxConnections,
        long maxLoopOperations,
        long maxOperations,
        int maxRequestThreads,
        int receiveSeconds,
        int keepAliveSeconds,
        int stopSeconds,
        int pinnedWorkers,
        int pipelineQueue,
        int poolThreads,
        DatabaseSettings database) {
    /** With this bound, the response to {@link #mostProductElements} still fits one Java array. */
    private static final int LARGEST_BODY_LIMIT = 192 << 20;

    /** Enough for one small request. */
    private static final long LEAST_BUDGET_BYTES = 1 << 20;

    private static final long OWN_BYTES = 16 << 20;

    /** Heap of a connection with a part of a header, measured: buffers to read and write, and the header. */
    private static final long CONNECTION_BYTES = 137 << 10;

    private static final String LOOP = "loop";
    private static final int HIGHEST_PORT = 65_535;
    private static final int MOST_CONNECTIONS = 2000;
    private static final int HOUR_SECONDS = 3600;
    private static final long MOST_OPERATIONS = 999_999_999_999L;

    private static final Pattern DATABASE =
            Pattern.compile("postgresql://[A-Za-z0-9_-]+@[A-Za-z0-9.-]+:[1-9][0-9]{0,4}/[A-Za-z0-9_-]+");

    /** @throws InvalidSetting at the first bad value */
    public static Settings from(Map<String, String> variables) {
        Reading read = new Reading(variables);
        long heapBytes = Runtime.getRuntime().maxMemory();
        long budgetBytes = Math.max(LEAST_BUDGET_BYTES, heapBytes / 2 - OWN_BYTES);
        long heldConnections = Math.max(1, heapBytes / 4 / CONNECTION_BYTES);
        return new Settings(
                read.host("RESTBENCH_HOST", "127.0.0.1"),
                read.integer("RESTBENCH_PORT", 8080, 0, HIGHEST_PORT),
                variables.getOrDefault("RESTBENCH_FRAMEWORK", "tomcat"),
                read.handoff("RESTBENCH_HANDOFF"),
                read.integer("RESTBENCH_MAX_BODY_BYTES", 64 << 20, 1, LARGEST_BODY_LIMIT),
                read.integer("RESTBENCH_MAX_IN_FLIGHT", 256, 1, 4096),
                read.integer("RESTBENCH_MAX_DELAY_MILLIS", 10_000, 0, 60_000),
                read.number("RESTBENCH_MEMORY_BUDGET_BYTES", budgetBytes, LEAST_BUDGET_BYTES, heapBytes),
                read.integer("RESTBENCH_MAX_THREADS", 6400, 100, 100_000),
                read.integer(
                        "RESTBENCH_MAX_CONNECTIONS", (int) Math.min(MOST_CONNECTIONS, heldConnections), 1, 100_000),
                read.number("RESTBENCH_MAX_LOOP_OPERATIONS", 200_000_000, 1, MOST_OPERATIONS),
                read.number("RESTBENCH_MAX_OPERATIONS", 10_000_000_000L, 1, MOST_OPERATIONS),
                read.integer("RESTBENCH_MAX_REQUEST_THREADS", 100_000, 1, Integer.MAX_VALUE),
                read.integer("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", 20, 1, HOUR_SECONDS),
                read.integer("RESTBENCH_KEEP_ALIVE_SECONDS", 300, 1, HOUR_SECONDS),
                read.integer("RESTBENCH_STOP_TIMEOUT_SECONDS", 30, 1, HOUR_SECONDS),
                read.integer("RESTBENCH_PINNED_WORKERS", 1, 1, 1024),
                read.integer("RESTBENCH_PIPELINE_QUEUE", 4, 1, 4096),
                variables.containsKey("RESTBENCH_POOL_THREADS") ? read.integer("RESTBENCH_POOL_THREADS", 0, 1, 999) : 0,
                new DatabaseSettings(
                        read.database("RESTBENCH_DATABASE_URL"),
                        read.path("RESTBENCH_DATABASE_PASSWORD_FILE", Reading::isFile, "a file that can be read"),
                        read.integer("RESTBENCH_DATABASE_CONNECTIONS", 20, 1, 150),
                        read.integer("RESTBENCH_MAX_MESSAGE_CHARACTERS", 65_536, 1, 1 << 20),
                        read.integer("RESTBENCH_RECEIPT_SECONDS", 600, 1, 24 * HOUR_SECONDS),
                        read.path("RESTBENCH_DATABASE_FREE_PATH", Files::exists, "a path that exists"),
                        read.number("RESTBENCH_DATABASE_MIN_FREE_BYTES", 1L << 30, 0, 999_999_999_999L)));
    }

    private record Reading(Map<String, String> variables) {
        String host(String variable, String unset) {
            String host = variables.getOrDefault(variable, unset);
            try {
                if (!host.isEmpty()) { // Java takes an empty name for this machine
                    InetAddress.getByName(host);
                    return host;
                }
            } catch (UnknownHostException unknown) {
                // reported below
            }
            throw new InvalidSetting(variable, host, "an address or the name of this machine");
        }

        /** An invalid value is not shown in the message, as it may hold a password. */
        URI database(String variable) {
            String value = variables.get(variable);
            if (value == null) {
                return null;
            }
            URI url = DATABASE.matcher(value).matches() ? URI.create(value) : null;
            if (url == null || url.getHost() == null || url.getPort() > HIGHEST_PORT) { // null would mean localhost
                throw new InvalidSetting(variable, "postgresql://USER@HOST:PORT/DATABASE, without a password");
            }
            return url;
        }

        Path path(String variable, Predicate<Path> isRight, String allowed) {
            String value = variables.get(variable);
            try {
                if (value == null || !value.isEmpty() && isRight.test(Path.of(value))) {
                    return value == null ? null : Path.of(value);
                }
            } catch (InvalidPathException noPath) {
                // reported below: in the locale C, Java makes no path of a name beyond ASCII
            }
            throw new InvalidSetting(variable, value, allowed);
        }

        /** Whether the path is a file that can be read, or a pipe. */
        static boolean isFile(Path path) {
            return Files.isReadable(path) && !Files.isDirectory(path);
        }

        String handoff(String variable) {
            String value = variables.get(variable);
            if (value == null || value.equals("thread") || value.equals(LOOP)) {
                return value;
            }
            throw new InvalidSetting(variable, value, "one of thread, loop");
        }

        int integer(String variable, int unset, int lowest, int highest) {
            return (int) number(variable, unset, lowest, highest);
        }

        long number(String variable, long unset, long lowest, long highest) {
            String value = variables.get(variable);
            if (value == null) {
                return unset;
            }
            if (value.matches("[0-9]{1,18}")) {
                long number = Long.parseLong(value);
                if (number >= lowest && number <= highest) {
                    return number;
                }
            }
            throw new InvalidSetting(variable, value, "an integer from " + lowest + " to " + highest);
        }
    }

    /** Most elements of a product: each takes two bytes of a response as large as the largest body. */
    public int mostProductElements() {
        return Math.max(1, maxBodyBytes / 2);
    }

    /** Whether the event loop runs requests, so that everything else waits meanwhile. */
    public boolean runsInLoop() {
        return LOOP.equals(handoff);
    }

    /** For {@code /health}: what the service was started with. */
    public Map<String, Object> shown(Cores cores) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("maxBodyBytes", maxBodyBytes);
        shown.put("maxInFlight", maxInFlight);
        shown.put("maxDelayMillis", maxDelayMillis);
        shown.put("memoryBudgetBytes", memoryBudgetBytes);
        shown.put("maxThreads", maxThreads);
        shown.put("maxConnections", maxConnections);
        shown.put("maxLoopOperations", maxLoopOperations);
        shown.put("maxOperations", maxOperations);
        shown.put("maxRequestThreads", maxRequestThreads);
        shown.put("receiveTimeoutSeconds", receiveSeconds);
        shown.put("keepAliveSeconds", keepAliveSeconds);
        shown.put("stopTimeoutSeconds", stopSeconds);
        shown.put("pinnedWorkers", pinnedWorkers);
        shown.put("pinnedCores", cores.pinned());
        shown.put("pipelineQueue", pipelineQueue);
        shown.put("poolThreads", poolThreads == 0 ? null : poolThreads);
        if (database.url() != null) {
            shown.put("databaseConnections", database.connections());
            shown.put("databaseMinFreeBytes", database.minFreeBytes());
            shown.put("maxMessageCharacters", database.maxMessageCharacters());
            shown.put("receiptSeconds", database.receiptSeconds());
        }
        return shown;
    }

    /** A setting the service cannot start with: one line with the variable, its value and what is allowed. */
    public static final class InvalidSetting extends RuntimeException {
        private static final Pattern UNPRINTABLE = Pattern.compile("\\p{Cntrl}");

        public InvalidSetting(String variable, String value, String allowed) {
            this(variable + "='" + escaped(value) + "'", allowed);
        }

        /** @param what the variable alone, as its value may hold a password */
        InvalidSetting(String what, String allowed) {
            super(what + ": must be " + allowed, null, false, false);
        }

        /** Without what would begin another line or do something to a terminal. */
        private static String escaped(String value) {
            return UNPRINTABLE
                    .matcher(value)
                    .replaceAll(found ->
                            String.format("\\\\x%02x", (int) found.group().charAt(0)));
        }
    }

    /**
     * The settings of the workload messages.
     *
     * @param url {@code postgresql://user@host:port/name}, null where there is no database: the others have no effect
     *     then
     * @param passwordFile file whose first line, without white space around it, is the user's password; null for none
     * @param connections number of connections that are kept to the database
     * @param maxMessageCharacters most code points of a message
     * @param receiptSeconds how long the answer to a request with a key is remembered
     * @param freePath a path on the file system of the database's data, null where the database is elsewhere
     * @param minFreeBytes free bytes on that file system without which no messages are accepted
     */
    public record DatabaseSettings(
            URI url,
            Path passwordFile,
            int connections,
            int maxMessageCharacters,
            int receiptSeconds,
            Path freePath,
            long minFreeBytes) {
        /** The password, read from the file each time and not kept here; null where there is no file. */
        public String password() {
            try {
                return passwordFile == null
                        ? null
                        : Files.readAllLines(passwordFile).stream()
                                .findFirst()
                                .orElse("")
                                .strip();
            } catch (CharacterCodingException notUtf8) {
                throw new InvalidSetting(
                        "RESTBENCH_DATABASE_PASSWORD_FILE", passwordFile.toString(), "a file in UTF-8");
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        }
    }

    /**
     * The allowed cores when the service started, ascending, and one for each pinned worker: the highest first, as the
     * kernel tends to handle interrupts on the lowest.
     */
    public record Cores(List<Integer> allowed, List<Integer> pinned) {
        /** @throws InvalidSetting where there are more pinned workers than cores */
        public static Cores of(BitSet coresOfProcess, int pinnedWorkers) {
            List<Integer> allowed = coresOfProcess.stream().boxed().toList();
            if (pinnedWorkers > allowed.size()) {
                String most = "at most " + allowed.size() + ", as the process may run on cores " + allowed + " only";
                throw new InvalidSetting("RESTBENCH_PINNED_WORKERS", Integer.toString(pinnedWorkers), most);
            }
            List<Integer> descending = new ArrayList<>(allowed);
            Collections.reverse(descending);
            return new Cores(allowed, List.copyOf(descending.subList(0, pinnedWorkers)));
        }
    }
}
