package org.restbench.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.Map;
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
        ServerSocket gone = new ServerSocket(0);
        gone.close();
        try (Database database =
                new Database(URI.create("postgresql://nobody@127.0.0.1:" + gone.getLocalPort() + "/none"), null, 1)) {
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
}
