package org.restbench.framework;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.framework.GoneClients.TcpStates;

/** Connections of this machine, on sockets as servers open them. */
@Timeout(20)
class TcpStatesTest {
    private static final int ESTABLISHED = 1;

    private static OptionalInt stateOf(Socket accepted) {
        return TcpStates.of((InetSocketAddress) accepted.getLocalSocketAddress(), (InetSocketAddress)
                accepted.getRemoteSocketAddress());
    }

    private static void end(Socket client) throws IOException {
        client.close();
    }

    private static void awaitCloseWait(Socket accepted) throws IOException {
        assertThat(accepted.getInputStream().read()).isEqualTo(-1); // the kernel has the client's FIN
        assertThat(stateOf(accepted)).hasValue(TcpStates.CLOSE_WAIT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void an_open_connection_is_established_and_one_that_its_client_closed_waits_to_be_closed(String host)
            throws Exception {
        InetAddress address = InetAddress.getByName(host);
        assumeThat(NetworkInterface.getByInetAddress(address)).isNotNull(); // some machines are without IPv6
        try (ServerSocket server = new ServerSocket(0, 1, address);
                Socket client = new Socket(address, server.getLocalPort());
                Socket accepted = server.accept()) {
            assertThat(stateOf(accepted)).hasValue(ESTABLISHED);
            end(client);
            awaitCloseWait(accepted);
        }
    }

    @Test
    void so_is_one_of_ipv4_on_a_socket_for_both_families_whose_client_closed_its_sending_half() throws Exception {
        try (ServerSocketChannel channel = ServerSocketChannel.open().bind(new InetSocketAddress(0));
                Socket client = new Socket("127.0.0.1", channel.socket().getLocalPort());
                Socket accepted = channel.accept().socket()) {
            assertThat(stateOf(accepted)).hasValue(ESTABLISHED);
            client.shutdownOutput();
            awaitCloseWait(accepted);
        }
    }

    @Test
    void a_connection_that_does_not_exist_has_no_state() {
        InetSocketAddress own = new InetSocketAddress("127.0.0.1", 1);
        assertThat(TcpStates.of(own, new InetSocketAddress("127.0.0.1", 2))).isEmpty();
    }

    @Test
    void threads_that_ask_at_once_each_get_the_state_of_their_own_connection() throws Exception {
        InetAddress address = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(0, 2, address);
                Socket stays = new Socket(address, server.getLocalPort());
                Socket ofStaying = server.accept();
                Socket leaves = new Socket(address, server.getLocalPort());
                Socket ofLeaving = server.accept()) {
            end(leaves);
            awaitCloseWait(ofLeaving);
            CountDownLatch right = new CountDownLatch(2);
            for (Socket each : new Socket[] {ofStaying, ofLeaving}) {
                int expected = each == ofLeaving ? TcpStates.CLOSE_WAIT : ESTABLISHED;
                new Thread(() -> {
                            boolean isRight = true;
                            for (int number = 0; number < 500; number++) {
                                isRight &= stateOf(each).equals(OptionalInt.of(expected));
                            }
                            if (isRight) {
                                right.countDown();
                            }
                        })
                        .start();
            }
            assertThat(right.await(15, SECONDS)).isTrue();
            assertThat(stays.isClosed()).isFalse();
        }
    }
}
