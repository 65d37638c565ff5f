package org.restbench.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DatabaseTest {
    /** Its own connection to a silent server is still open then: the driver gives up after ten seconds. */
    @Test
    void who_asks_whether_it_is_up_hardly_waits_for_a_silent_one() throws IOException {
        try (ServerSocket silent = new ServerSocket(0);
                Database database = new Database(
                        URI.create("postgresql://nobody@127.0.0.1:" + silent.getLocalPort() + "/none"), null, 1)) {
            assertThat(database.isUp()).isFalse();
            assertThat(database.isUp()).isFalse();
            try (Socket asking = silent.accept();
                    InputStream sent = asking.getInputStream()) {
                asking.setSoTimeout(1);
                assertThatThrownBy(() -> sent.readAllBytes()).isInstanceOf(SocketTimeoutException.class);
            }
        }
    }

    @Test
    void a_request_without_a_connection_is_told_why_there_is_none() throws IOException {
        try (Database database = away()) {
            database.open();
            try (Session session = database.session()) {
                assertThatThrownBy(() -> session.read("count", Map.of(), row -> row))
                        .isInstanceOfSatisfying(DatabaseFailure.class, failure -> {
                            assertThat(failure.state()).isEqualTo("08001");
                            assertThat(failure.isUnknown()).isFalse();
                        });
            }
        }
    }

    @Test
    void nobody_asks_for_connections_once_it_is_closed() throws IOException, InterruptedException {
        Set<Thread> before = adders();
        Database database = away();
        database.open();
        Set<Thread> asking;
        do {
            asking = adders();
            asking.removeAll(before);
        } while (asking.isEmpty());
        database.close();
        for (Thread adder : asking) {
            adder.join(60_000);
            assertThat(adder.isAlive()).isFalse();
        }
    }

    private static Set<Thread> adders() {
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> !thread.getName().contains("connection-adder"));
        return threads;
    }

    /** Of a server that refuses every connection. */
    private static Database away() throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }
        return new Database(URI.create("postgresql://nobody@127.0.0.1:" + port + "/none"), null, 1);
    }
}
