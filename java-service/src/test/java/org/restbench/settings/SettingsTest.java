package org.restbench.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.settings.Settings.Cores;
import org.restbench.settings.Settings.DatabaseSettings;
import org.restbench.settings.Settings.InvalidSetting;

class SettingsTest {
    private static final long HEAP = Runtime.getRuntime().maxMemory();

    @Test
    void an_empty_environment_gives_the_documented_defaults() {
        Settings defaults = Settings.from(Map.of());
        assertThat(defaults)
                .isEqualTo(new Settings(
                        "127.0.0.1",
                        8080,
                        "tomcat",
                        null,
                        67_108_864,
                        256,
                        10_000,
                        HEAP / 2 - (16 << 20),
                        6400,
                        (int) Math.min(2000, HEAP / 4 / (137 << 10)),
                        200_000_000,
                        10_000_000_000L,
                        100_000,
                        20,
                        300,
                        30,
                        1,
                        4,
                        0,
                        new DatabaseSettings(null, null, 20, 65_536, 600, null, 1L << 30)));
    }

    @Test
    void every_variable_is_read() {
        Map<String, String> environment = new HashMap<>(Map.of(
                "RESTBENCH_HOST", "0.0.0.0",
                "RESTBENCH_PORT", "18081",
                "RESTBENCH_FRAMEWORK", "vertx",
                "RESTBENCH_HANDOFF", "loop",
                "RESTBENCH_MAX_BODY_BYTES", "1000",
                "RESTBENCH_MAX_IN_FLIGHT", "5",
                "RESTBENCH_MEMORY_BUDGET_BYTES", "2000000",
                "RESTBENCH_MAX_THREADS", "101",
                "RESTBENCH_MAX_CONNECTIONS", "7"));
        environment.putAll(Map.of(
                "RESTBENCH_MAX_DELAY_MILLIS", "6",
                "RESTBENCH_MAX_LOOP_OPERATIONS", "12",
                "RESTBENCH_MAX_OPERATIONS", "13",
                "RESTBENCH_MAX_REQUEST_THREADS", "14",
                "RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "8",
                "RESTBENCH_KEEP_ALIVE_SECONDS", "10",
                "RESTBENCH_STOP_TIMEOUT_SECONDS", "11",
                "RESTBENCH_PINNED_WORKERS", "2",
                "RESTBENCH_PIPELINE_QUEUE", "3",
                "RESTBENCH_POOL_THREADS", "15"));
        environment.putAll(Map.of(
                "RESTBENCH_DATABASE_URL", "postgresql://me@127.0.0.1:5432/restbench",
                "RESTBENCH_DATABASE_PASSWORD_FILE", "/dev/null",
                "RESTBENCH_DATABASE_CONNECTIONS", "16",
                "RESTBENCH_MAX_MESSAGE_CHARACTERS", "17",
                "RESTBENCH_RECEIPT_SECONDS", "18",
                "RESTBENCH_DATABASE_FREE_PATH", "/proc",
                "RESTBENCH_DATABASE_MIN_FREE_BYTES", "19"));
        URI url = URI.create("postgresql://me@127.0.0.1:5432/restbench");
        DatabaseSettings database = new DatabaseSettings(url, Path.of("/dev/null"), 16, 17, 18, Path.of("/proc"), 19);
        assertThat(Settings.from(environment))
                .isEqualTo(new Settings(
                        "0.0.0.0", 18_081, "vertx", "loop", 1000, 5, 6, 2_000_000, 101, 7, 12, 13, 14, 8, 10, 11, 2, 3,
                        15, database));
    }

    @ParameterizedTest
    @CsvSource({
        "RESTBENCH_PORT,abc,0 to 65535",
        "RESTBENCH_PORT,65536,0 to 65535",
        "RESTBENCH_PORT,'',0 to 65535",
        "RESTBENCH_HANDOFF,fork,'one of thread, loop'",
        "RESTBENCH_MAX_BODY_BYTES,0,1 to 201326592",
        "RESTBENCH_MAX_BODY_BYTES,64MB,1 to 201326592",
        "RESTBENCH_MAX_IN_FLIGHT,-1,1 to 4096",
        "RESTBENCH_MAX_DELAY_MILLIS,60001,0 to 60000",
        "RESTBENCH_MAX_DELAY_MILLIS,-1,0 to 60000",
        "RESTBENCH_MEMORY_BUDGET_BYTES,1000,1048576 to ",
        "RESTBENCH_MEMORY_BUDGET_BYTES,9223372036854775807,1048576 to ",
        "RESTBENCH_MAX_THREADS,99,100 to 100000",
        "RESTBENCH_MAX_CONNECTIONS,0,1 to 100000",
        "RESTBENCH_RECEIVE_TIMEOUT_SECONDS,0,1 to 3600",
        "RESTBENCH_MAX_LOOP_OPERATIONS,0,1 to 999999999999",
        "RESTBENCH_MAX_OPERATIONS,1e9,1 to 999999999999",
        "RESTBENCH_MAX_REQUEST_THREADS,0,1 to ",
        "RESTBENCH_KEEP_ALIVE_SECONDS,-1,1 to 3600",
        "RESTBENCH_STOP_TIMEOUT_SECONDS,x,1 to 3600",
        "RESTBENCH_PINNED_WORKERS,0,1 to 1024",
        "RESTBENCH_PIPELINE_QUEUE,0,1 to 4096",
        "RESTBENCH_POOL_THREADS,0,1 to 999",
        "RESTBENCH_DATABASE_CONNECTIONS,151,1 to 150",
        "RESTBENCH_DATABASE_PASSWORD_FILE,/no/such/file,a file that can be read",
        "RESTBENCH_DATABASE_PASSWORD_FILE,/proc,a file that can be read",
        "RESTBENCH_MAX_MESSAGE_CHARACTERS,0,1 to 1048576",
        "RESTBENCH_RECEIPT_SECONDS,0,1 to 86400",
        "RESTBENCH_DATABASE_FREE_PATH,/no/such/file,a path that exists",
        "RESTBENCH_DATABASE_MIN_FREE_BYTES,-1,0 to 999999999999",
        "RESTBENCH_PORT,+8080,0 to 65535",
        "RESTBENCH_PORT,\u0661\u0669\u0663\u0669,0 to 65535",
        "RESTBENCH_DATABASE_FREE_PATH,'',a path that exists",
        "RESTBENCH_DATABASE_FREE_PATH,no\0path,a path that exists",
        "RESTBENCH_HOST,no such host,address",
        "RESTBENCH_HOST,'no\nhost',address",
        "RESTBENCH_HOST,'',address"
    })
    void a_bad_value_is_one_line_with_the_variable_and_what_is_allowed(String variable, String value, String allowed) {
        String shown = value.replace("\n", "\\x0a").replace("\0", "\\x00");
        assertThatThrownBy(() -> Settings.from(Map.of(variable, value)))
                .isInstanceOf(InvalidSetting.class)
                .hasMessageStartingWith(variable + "='" + shown + "': must be ")
                .hasMessageContaining(allowed)
                .hasMessageNotContaining("\n");
    }

    @Test
    void a_wrong_address_of_a_database_is_not_shown_as_it_may_hold_a_password() {
        for (String wrong : List.of(
                "postgresql://me:secret@host:1/db",
                "postgresql://me@10.0.0.256:1/db",
                "postgresql://me@host-:1/db",
                "postgresql://me@host:65536/db",
                "postgresql://me@host:0/db",
                "postgresql://me@host:1/db\n",
                "jdbc:postgresql://host:1/db",
                "secret",
                "")) {
            assertThatThrownBy(() -> Settings.from(Map.of("RESTBENCH_DATABASE_URL", wrong)))
                    .hasMessage("RESTBENCH_DATABASE_URL: must be postgresql://USER@HOST:PORT/DATABASE,"
                            + " without a password");
        }
    }

    @Test
    void the_password_is_the_first_line_of_its_file_without_white_space_around_it(@TempDir Path folder)
            throws IOException {
        Path file = Files.writeString(folder.resolve("password"), " secret \r\nanother\n");
        DatabaseSettings settings = new DatabaseSettings(null, file, 1, 1, 1, null, 0);
        assertThat(settings.password()).isEqualTo("secret");
        assertThat(new DatabaseSettings(null, Path.of("/dev/null"), 1, 1, 1, null, 0).password())
                .isEmpty();
    }

    @Test
    void a_password_that_is_no_utf_8_is_told_in_one_line(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("password"), new byte[] {'p', (byte) 0xff});
        DatabaseSettings settings = new DatabaseSettings(null, file, 1, 1, 1, null, 0);
        assertThatThrownBy(settings::password)
                .isInstanceOf(InvalidSetting.class)
                .hasMessage("RESTBENCH_DATABASE_PASSWORD_FILE='" + file + "': must be a file in UTF-8");
    }

    @Test
    void pinned_workers_get_the_highest_cores_the_process_may_use() {
        BitSet allowed = BitSet.valueOf(new long[] {0b1011_0100});
        assertThat(Cores.of(allowed, 3)).isEqualTo(new Cores(List.of(2, 4, 5, 7), List.of(7, 5, 4)));
    }

    @Test
    void more_pinned_workers_than_cores_are_refused() {
        assertThatThrownBy(() -> Cores.of(BitSet.valueOf(new long[] {0b10}), 2))
                .hasMessage(
                        "RESTBENCH_PINNED_WORKERS='2': must be at most 1, as the process may run on cores [1] only");
    }
}
