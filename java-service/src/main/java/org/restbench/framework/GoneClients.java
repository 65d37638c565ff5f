package org.restbench.framework;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Asks the kernel whether the client of a request still waits, for servers that do not watch a connection while its
 * request runs.
 *
 * <p>Where a client has closed its connection, or its sending half, the service's end stays in CLOSE_WAIT until it is
 * closed, too. A connection that the client has reset is in no table, so that the client counts as waiting; so does
 * every client where the kernel's tables cannot be read. The tables are read at most ten times a second for all
 * requests together, and reading takes at most a twentieth of the time, however long the tables are.
 */
final class GoneClients {
    static final GoneClients SEEN_BY_KERNEL =
            new GoneClients(List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6")), System::nanoTime);

    /**
     * How long a client counts as waiting without a look at the tables, so that a request that runs at once costs none.
     */
    private static final long WATCHED_AFTER_NANOS = 100_000_000;

    private static final long LOOK_EVERY_NANOS = 100_000_000;

    /** The time from one look to the next is at least so many times the duration of a look. */
    private static final long INTERVAL_PER_LOOK = 20;

    /** The state CLOSE_WAIT in a line of a table, where no other field has two digits. */
    private static final String CLOSE_WAIT = " 08 ";

    private final List<Path> tables;
    private final LongSupplier clock;
    private final ReentrantLock looking = new ReentrantLock();
    private volatile Look last;

    /**
     * @param tables files in the format of /proc/net/tcp, which proc(5) describes
     * @param clock in nanoseconds, as {@link System#nanoTime}
     */
    GoneClients(List<Path> tables, LongSupplier clock) {
        this.tables = tables;
        this.clock = clock;
        last = new Look(clock.getAsLong() - LOOK_EVERY_NANOS, 0, Set.of());
    }

    private record Connection(InetSocketAddress client, int servicePort) {}

    /** One look at the tables, with all connections whose clients had gone. */
    private record Look(long beganNanos, long tookNanos, Set<Connection> gone) {}

    /**
     * For a request that has just begun: reports whether the client still waits, at any later time.
     *
     * @param address of the client, in digits
     */
    BooleanSupplier waits(String address, int port, int servicePort) {
        long beganNanos = clock.getAsLong();
        return () -> {
            if (clock.getAsLong() - beganNanos < WATCHED_AFTER_NANOS) {
                return true;
            }
            Look look = newest();
            boolean isOfThisConnection = look.beganNanos() - beganNanos > 0; // not of an earlier one from the same port
            return !isOfThisConnection
                    || !look.gone().contains(new Connection(new InetSocketAddress(address, port), servicePort));
        };
    }

    private Look newest() {
        Look look = last;
        long nowNanos = clock.getAsLong();
        long apartNanos = Math.max(LOOK_EVERY_NANOS, INTERVAL_PER_LOOK * look.tookNanos());
        if (nowNanos - look.beganNanos() >= apartNanos && looking.tryLock()) {
            try {
                Set<Connection> gone = gone();
                look = new Look(nowNanos, clock.getAsLong() - nowNanos, gone);
                last = look;
            } finally {
                looking.unlock();
            }
        }
        return look;
    }

    private Set<Connection> gone() {
        Set<Connection> gone = new HashSet<>();
        for (Path table : tables) {
            try {
                for (String line : Files.readAllLines(table)) {
                    if (line.contains(CLOSE_WAIT)) {
                        String[] fields = line.strip().split(" +", 4);
                        gone.add(new Connection(
                                place(fields[2]), place(fields[1]).getPort()));
                    }
                }
            } catch (IOException absent) {
                continue; // e.g. without IPv6
            }
        }
        return gone;
    }

    /**
     * @param text an address in 32-bit words of the machine's byte order, a colon and the port, all in hexadecimal
     *     digits
     */
    private static InetSocketAddress place(String text) throws UnknownHostException {
        String[] parts = text.split(":");
        ByteBuffer words = ByteBuffer.wrap(HexFormat.of().parseHex(parts[0]));
        ByteBuffer address = ByteBuffer.allocate(words.capacity()).order(ByteOrder.nativeOrder());
        while (words.hasRemaining()) {
            address.putInt(words.getInt());
        }
        return new InetSocketAddress(InetAddress.getByAddress(address.array()), Integer.parseInt(parts[1], 16));
    }
}
