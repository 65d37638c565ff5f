package org.restbench.framework;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /** Whether the client of a request that has just begun still waits, at any time. Addresses are in digits. */
    BooleanSupplier waits(String client, int clientPort, String service, int servicePort) {
        long beganNanos = clock.getAsLong();
        return () -> clock.getAsLong() - beganNanos < WATCHED_AFTER_NANOS
                || states.apply(new InetSocketAddress(service, servicePort), new InetSocketAddress(client, clientPort))
                                .orElse(0)
                        != TcpStates.CLOSE_WAIT;
    }

    /**
     * Looks up the state of one TCP connection in the kernel by its addresses (sock_diag(7)), which takes microseconds.
     * To read all connections in /proc/net/tcp takes ten milliseconds on a machine with 24 GiB of memory, because the
     * kernel then walks a hash table whose size follows from the memory.
     */
    static final class TcpStates {
        /** The peer has closed its sending half, and this end is still open (include/net/tcp_states.h). */
        static final int CLOSE_WAIT = 8;

        private static final Logger LOG = LoggerFactory.getLogger(TcpStates.class);
        private static boolean isReported;

        private static final short SOCK_DIAG_BY_FAMILY = 20;
        private static final short NLM_F_REQUEST = 1;
        private static final byte AF_INET = 2;
        private static final byte AF_INET6 = 10;
        private static final byte IPPROTO_TCP = 6;

        /** Sizes in bytes of struct nlmsghdr and struct inet_diag_req_v2. */
        private static final int HEADER_BYTES = 16;

        private static final int REQUEST_BYTES = 56;

        private static final int ADDRESS_BYTES = 16;

        private static final int MOST_REPLY_BYTES = 1024;

        /** Offsets in a reply: of its header's type and number, and of the state, which is the body's second byte. */
        private static final int TYPE_AT = 4;

        private static final int NUMBER_AT = 8;
        private static final int STATE_AT = HEADER_BYTES + 1;

        private static final ReentrantLock ASKING = new ReentrantLock();
        private static int socket = -1; // opened by the first request, used under the lock, and never closed
        private static int questions;

        private TcpStates() {}

        /** The state of the socket at {@code own}; empty where the kernel does not know or answer. */
        static OptionalInt of(InetSocketAddress own, InetSocketAddress peer) {
            ASKING.lock();
            try {
                if (socket < 0) {
                    socket = LibC.INSTANCE.socket(LibC.AF_NETLINK, LibC.SOCK_DGRAM_CLOEXEC, LibC.NETLINK_SOCK_DIAG);
                }
                return socket < 0 ? unavailable("no netlink socket", null) : ask(own, peer);
            } catch (LinkageError noLibrary) {
                return unavailable("the C library cannot be called", noLibrary);
            } finally {
                ASKING.unlock();
            }
        }

        private static OptionalInt ask(InetSocketAddress own, InetSocketAddress peer) {
            byte[] request = request(own, peer, ++questions);
            LibC.INSTANCE.send(socket, request, new NativeLong(request.length), 0);
            byte[] bytes = new byte[MOST_REPLY_BYTES];
            while (receive(bytes) > STATE_AT) {
                ByteBuffer reply = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
                if (reply.getInt(NUMBER_AT) == questions) { // else an answer that came too late
                    boolean isFound = reply.getShort(TYPE_AT) == SOCK_DIAG_BY_FAMILY;
                    return isFound ? OptionalInt.of(reply.get(STATE_AT)) : OptionalInt.empty();
                }
            }
            return OptionalInt.empty();
        }

        /** The length of the next reply, -1 for none: the kernel replies before send(2) returns. */
        private static long receive(byte[] reply) {
            return LibC.INSTANCE
                    .recv(socket, reply, new NativeLong(reply.length), LibC.MSG_DONTWAIT)
                    .longValue();
        }

        private static byte[] request(InetSocketAddress own, InetSocketAddress peer, int number) {
            ByteBuffer request =
                    ByteBuffer.allocate(HEADER_BYTES + REQUEST_BYTES).order(ByteOrder.nativeOrder());
            request.putInt(request.capacity()).putShort(SOCK_DIAG_BY_FAMILY).putShort(NLM_F_REQUEST);
            request.putInt(number).putInt(0);
            request.put(peer.getAddress() instanceof Inet4Address ? AF_INET : AF_INET6);
            request.put(IPPROTO_TCP).putShort((short) 0).putInt(-1); // in any state
            request.order(ByteOrder.BIG_ENDIAN);
            request.putShort((short) own.getPort()).putShort((short) peer.getPort());
            for (InetSocketAddress each : new InetSocketAddress[] {own, peer}) {
                byte[] address = each.getAddress().getAddress();
                request.put(address).put(new byte[ADDRESS_BYTES - address.length]);
            }
            request.putInt(0).putInt(-1).putInt(-1); // on any interface, without a cookie
            return request.array();
        }

        private static OptionalInt unavailable(String why, Throwable cause) {
            if (!isReported) {
                isReported = true;
                LOG.warn("{}: requests whose clients are gone are run", why, cause);
            }
            return OptionalInt.empty();
        }

        /** socket(2), send(2) and recv(2), with the constants of Linux. */
        private interface LibC extends Library {
            int AF_NETLINK = 16;
            int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
            int NETLINK_SOCK_DIAG = 4;
            int MSG_DONTWAIT = 0x40;
            LibC INSTANCE = Native.load("c", LibC.class);

            int socket(int domain, int type, int protocol);

            NativeLong send(int socket, byte[] bytes, NativeLong length, int flags);

            NativeLong recv(int socket, byte[] bytes, NativeLong length, int flags);
        }
    }
}
