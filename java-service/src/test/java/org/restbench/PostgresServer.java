package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PostgreSQL for tests, as the harness has it: with the tables, roles and rights that services meet elsewhere. One
 * for all tests, started by the first that asks; it ends with this process.
 */
final class PostgresServer {
    private static final Path RESTBENCH =
            Path.of("..", ".venv", "bin", "restbench").toAbsolutePath();
    private static final Path FOLDER = Path.of("target", "database").toAbsolutePath();
    private static PostgresServer started;

    final int port;

    private PostgresServer(int port) {
        this.port = port;
    }

    /** Without the harness there is none, and the test is skipped: {@code make setup} installs it. */
    static synchronized PostgresServer running() {
        assumeTrue(Files.isExecutable(RESTBENCH), "SKIPPED, NO DATABASE: `make setup` installs " + RESTBENCH);
        if (started == null) {
            restbench("stop");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> restbench("stop")));
            Matcher url = Pattern.compile("@127\\.0\\.0\\.1:([0-9]+)/restbench").matcher(restbench("start"));
            if (!url.find()) {
                throw new IllegalStateException("the database did not start");
            }
            started = new PostgresServer(Integer.parseInt(url.group(1)));
        }
        return started;
    }

    private static String restbench(String action) {
        List<String> command = List.of(RESTBENCH.toString(), "database", action, "--folder", FOLDER.toString());
        try {
            Path output = Files.createTempFile("restbench-database", ".txt");
            int code = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile()) // what it starts would keep a pipe open
                    .start()
                    .waitFor();
            String told = Files.readString(output);
            Files.delete(output);
            if (code != 0) {
                throw new IllegalStateException("restbench database " + action + ": " + told);
            }
            return told;
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** For a service that finds the database at a port, its own or a proxy's. */
    static Map<String, String> environment(int port, int connections) {
        return Map.of(
                "RESTBENCH_DATABASE_URL", "postgresql://restbench_service@127.0.0.1:" + port + "/restbench",
                "RESTBENCH_DATABASE_PASSWORD_FILE",
                        FOLDER.resolve("service.password").toString(),
                "RESTBENCH_DATABASE_CONNECTIONS", Integer.toString(connections));
    }

    Map<String, String> environment() {
        return environment(port, 4);
    }

    /** For a service that thinks the disk of the database is full: nothing is free in /proc. */
    Map<String, String> environmentWithoutRoom() {
        Map<String, String> full = new HashMap<>(environment());
        full.put("RESTBENCH_DATABASE_FREE_PATH", "/proc");
        return full;
    }

    /** As the owner of all. */
    Connection connect() throws SQLException, IOException {
        PGSimpleDataSource owner = new PGSimpleDataSource();
        owner.setPortNumbers(new int[] {port});
        owner.setServerNames(new String[] {"127.0.0.1"});
        owner.setDatabaseName("restbench");
        owner.setUser("restbench_owner");
        owner.setPassword(Files.readString(FOLDER.resolve("owner.password")).strip());
        return owner.getConnection();
    }

    /** A queue's number. */
    String id(String queue) {
        return query("SELECT id FROM messages.queue WHERE name = '" + queue + "'")
                .get(0);
    }

    /** The first column of what a query finds. */
    List<String> query(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getString(1));
            }
            return found;
        } catch (SQLException | IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** @param process that waits */
    record WaitingPop(Future<HttpResponse<String>> answer, String process) {}

    /**
     * Returns when a pop waits here for a lock of one of these kinds, which another session holds. A machine that
     * stands still may miss one until its statement gives up: it is asked again.
     */
    WaitingPop popThatWaitsFor(QueueCalls queue, String... locks) {
        while (true) {
            CompletableFuture<HttpResponse<String>> answer =
                    CompletableFuture.supplyAsync(() -> queue.pop(null), task -> new Thread(task).start());
            while (!answer.isDone()) {
                List<String> waiting =
                        query("SELECT pid FROM pg_stat_activity WHERE application_name = 'restbench-java'"
                                + " AND wait_event_type = 'Lock' AND wait_event IN ('" + String.join("', '", locks)
                                + "')");
                if (!waiting.isEmpty()) {
                    return new WaitingPop(answer, waiting.get(0));
                }
            }
            assertThat(answer.join().body()).as("nobody holds it").contains("\"014\"");
        }
    }
}
