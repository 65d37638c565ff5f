package org.restbench.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
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
}
