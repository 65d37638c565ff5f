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
 * Whether the client of a request still waits, asked of the kernel: for servers that do not look at a connection while
 * its request runs.
 *
 * <p>A client that has closed its connection, or its sending half, leaves the service's end in CLOSE_WAIT until that is
 * closed, too. One that has reset it leaves nothing, and counts as waiting; so does every client where the kernel's
 * tables cannot be read. They are read at most ten times a second for all requests, and for a twentieth of the time,
 * however long they are.
 */
final class GoneClients {
    static final GoneClients SEEN_BY_KERNEL =
            new GoneClients(List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6")), System::nanoTime);

    /** Until then every client counts as waiting: a request that has its turn at once costs no look. */
    private static final long WATCHED_AFTER_NANOS = 100_000_000;

    private static final long LOOK_EVERY_NANOS = 100_000_000;

    /** The time from one look to the next, over what a look takes. */
    private static final long LOOKS_PART = 20;

    /** The state of a connection in a table, the only field of two digits. */
    private static final String CLOSE_WAIT = " 08 ";

    private final List<Path> tables;
    private final LongSupplier clock;
    private final ReentrantLock looking = new ReentrantLock();
    private volatile Look last;

    /**
     * @param tables as proc(5) describes /proc/net/tcp
     * @param clock in nanoseconds, as {@link System#nanoTime}
     */
    GoneClients(List<Path> tables, LongSupplier clock) {
        this.tables = tables;
        this.clock = clock;
        last = new Look(clock.getAsLong() - LOOK_EVERY_NANOS, 0, Set.of());
    }

    private record Connection(InetSocketAddress client, int servicePort) {}

    /** All connections whose clients had gone. */
    private record Look(long beganNanos, long tookNanos, Set<Connection> gone) {}

    /**
     * Of a request that has just begun: whether its client still waits, to be asked at any later time.
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
            boolean isOfThisConnection = look.beganNanos() - beganNanos > 0; // not of one before it from the same port
            return !isOfThisConnection
                    || !look.gone().contains(new Connection(new InetSocketAddress(address, port), servicePort));
        };
    }

    private Look newest() {
        Look look = last;
        long nowNanos = clock.getAsLong();
        long apartNanos = Math.max(LOOK_EVERY_NANOS, LOOKS_PART * look.tookNanos());
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
                continue; // as without IPv6
            }
        }
        return gone;
    }

    /** @param text an address in words of the machine's order, a colon and the port, all in hexadecimal digits */
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
