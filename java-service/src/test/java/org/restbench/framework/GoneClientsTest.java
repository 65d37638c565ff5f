package org.restbench.framework;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables as the kernel writes them; 8080 is 1F90, 50001 is C351. */
class GoneClientsTest {
    private static final String OF_THIS_MACHINE =
            ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? "0100007F" : "7F000001";
    private static final String MAPPED = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? "FFFF0000" : "0000FFFF";
    private static final String LOOPBACK_6 =
            "0".repeat(24) + (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? "01000000" : "00000001");

    private static final long MOMENT_NANOS = 100_000_000;

    @TempDir
    private Path folder;

    private final AtomicLong nanos = new AtomicLong(-MOMENT_NANOS); // as System.nanoTime, of any sign

    private BooleanSupplier waits(String client, String table) throws IOException {
        Path path = folder.resolve("tcp");
        Files.writeString(path, "  sl  local_address rem_address   st tx_queue rx_queue tr\n" + table);
        return new GoneClients(List.of(folder.resolve("absent"), path), nanos::get).waits(client, 50001, 8080);
    }

    private static String line(String local, String client, String state) {
        return "   0: " + local + " " + client + " " + state
                + " 00000000:00000000 00:00000000 00000000     0        0 81\n";
    }

    private boolean later(BooleanSupplier waits) {
        nanos.addAndGet(MOMENT_NANOS);
        return waits.getAsBoolean();
    }

    @Test
    void a_client_that_has_closed_is_gone_but_not_within_a_moment() throws Exception {
        BooleanSupplier waits = waits("127.0.0.1", line(OF_THIS_MACHINE + ":1F90", OF_THIS_MACHINE + ":C351", "08"));
        nanos.addAndGet(MOMENT_NANOS - 1);
        assertThat(waits.getAsBoolean()).isTrue();
        assertThat(later(waits)).isFalse();
    }

    @Test
    void so_is_one_of_the_other_family() throws Exception {
        String mapped = "0".repeat(16) + MAPPED + OF_THIS_MACHINE;
        assertThat(later(waits("127.0.0.1", line(mapped + ":1F90", mapped + ":C351", "08"))))
                .isFalse();
        assertThat(later(waits("0:0:0:0:0:0:0:1", line(LOOPBACK_6 + ":1F90", LOOPBACK_6 + ":C351", "08"))))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"1F90, C351, 01", "1F91, C351, 08", "1F90, C352, 08"})
    void one_that_is_connected_or_another_is_not(String local, String client, String state) throws Exception {
        String table = line(OF_THIS_MACHINE + ":" + local, OF_THIS_MACHINE + ":" + client, state);
        assertThat(later(waits("127.0.0.1", table))).isTrue();
    }

    @Test
    void one_that_goes_later_is_seen_by_a_later_look() throws Exception {
        BooleanSupplier waits = waits("127.0.0.1", "");
        assertThat(later(waits)).isTrue();
        Files.writeString(folder.resolve("tcp"), line(OF_THIS_MACHINE + ":1F90", OF_THIS_MACHINE + ":C351", "08"));
        assertThat(later(waits)).isFalse();
    }
}
