package org.restbench.framework;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Asks the kernel whether the client of a request still waits, for servers that do not watch a connection while its
 * request runs.
 *
 * <p>Where a client has closed its connection, or its sending half, the service's end stays in CLOSE_WAIT until it is
 * closed, too. A connection that the client has reset does not exist any more, so that the client counts as waiting; so
 * does every client where the kernel does not answer.
 *
 * @param states state of the connection between the service's address and the client's, as {@link TcpStates#of}
 * @param clock in nanoseconds, as {@link System#nanoTime}
 */
record GoneClients(BiFunction<InetSocketAddress, InetSocketAddress, OptionalInt> states, LongSupplier clock) {
    static final GoneClients SEEN_BY_KERNEL = new GoneClients(TcpStates::of, System::nanoTime);

    /** How long a client counts as waiting without a lookup, so that a request that runs at once costs none. */
    private static final long WATCHED_AFTER_NANOS = 100_000_000;

    /**
     * For a request that has just begun: reports whether the client still waits, at any later time.
     *
     * @param client address of the client, in digits
     * @param service address of the service on this connection, in digits
     */
    BooleanSupplier waits(String client, int clientPort, String service, int servicePort) {
        long beganNanos = clock.getAsLong();
        return () -> clock.getAsLong() - beganNanos < WATCHED_AFTER_NANOS
                || states.apply(new InetSocketAddress(service, servicePort), new InetSocketAddress(client, clientPort))
                                .orElse(0)
                        != TcpStates.CLOSE_WAIT;
    }
}
