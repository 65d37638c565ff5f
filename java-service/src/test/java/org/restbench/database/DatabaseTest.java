package org.restbench.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class DatabaseTest {
    /** Its own connection to a silent server is still open then: the driver gives up after ten seconds. */
    @Test
    void who_asks_whether_it_is_up_hardly_waits_for_a_silent_one() throws IOException {
        try (ServerSocket silent = new ServerSocket(0);
                Database database = at(silent.getLocalPort())) {
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
            DatabaseFailure failure = failure(database);
            assertThat(failure.state()).isEqualTo("08001");
            assertThat(failure.isUnknown()).isFalse();
        }
    }

    /** As where all of the pool are in use: the server has refused none. */
    @Test
    void that_no_connection_is_free_is_told_once_a_minute_and_is_no_failure_of_the_database(CapturedOutput log)
            throws IOException {
        try (ServerSocket silent = new ServerSocket(0);
                Database database = at(silent.getLocalPort())) {
            database.open();
            for (int i = 0; i < 2; i++) {
                database.report(failure(database));
                database.succeeded();
            }
        }
        assertThat(log.getAll())
                .containsOnlyOnce("a request got no connection to the database within 1000 ms")
                .doesNotContain("SQLSTATE", "answers again");
    }

    private static DatabaseFailure failure(Database database) {
        try (Session session = new Session(database)) {
            return catchThrowableOfType(DatabaseFailure.class, () -> session.read("count", Map.of(), row -> row));
        }
    }

    @Test
    void what_is_done_every_so_often_is_done_again_after_an_error() throws Exception {
        CountDownLatch twice = new CountDownLatch(2);
        try (Database database = away()) {
            database.every(1, () -> {
                twice.countDown();
                throw new OutOfMemoryError("not really");
            });
            assertThat(twice.await(60, TimeUnit.SECONDS)).isTrue();
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
        try (ServerSocket closed = new ServerSocket(0)) {
            return at(closed.getLocalPort());
        }
    }

    private static Database at(int port) {
        return new Database(URI.create("postgresql://nobody@127.0.0.1:" + port + "/none"), null, 1);
    }
}
