package org.restbench.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/**
 * The database work of one request, on one connection, which is taken with the first statement. Every method that uses
 * the database throws {@link DatabaseFailure}. Used by one thread.
 */
public final class Session implements AutoCloseable {
    private final Database database;
    private Connection connection;
    private boolean inTransaction;
    private long connectionNanos;
    private long databaseNanos;

    public Session(Database database) {
        this.database = database;
    }

    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** A setting of a transaction, sent before its first statement. All other SQL is in the contract's files. */
    public enum Setting {
        REPEATABLE_READ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
        /** Switches bitmap scans on. They are off for the services' role, because pops must not use them. */
        BITMAP_SCANS("SET LOCAL enable_bitmapscan = on");

        private final String sql;

        Setting(String sql) {
            this.sql = sql;
        }
    }

    @FunctionalInterface
    private interface Step<T> {
        T run() throws SQLException;
    }

    @FunctionalInterface
    private interface Ending {
        void run() throws SQLException;
    }

    @FunctionalInterface
    private interface Execution<T> {
        T run(PreparedStatement statement) throws SQLException;
    }

    /** Nanoseconds for which the request waited for a connection. */
    public long connectionNanos() {
        return connectionNanos;
    }

    /** Nanoseconds for which the request waited for answers of the database. */
    public long databaseNanos() {
        return databaseNanos;
    }

    /** Executes a statement that changes nothing, and returns its rows. */
    public <T> List<T> read(String statement, Map<String, ?> parameters, Row<T> row) {
        return execute(false, statement, parameters, executed -> rows(executed.executeQuery(), row));
    }

    /** Executes a statement that changes data, by itself outside of a transaction, and returns its rows. */
    public <T> List<T> write(String statement, Map<String, ?> parameters, Row<T> row) {
        return execute(true, statement, parameters, executed -> rows(executed.executeQuery(), row));
    }

    /** As {@link #write}, for a statement without rows: returns the number of rows that it has changed. */
    public int change(String statement, Map<String, ?> parameters) {
        return execute(true, statement, parameters, PreparedStatement::executeUpdate);
    }

    private static <T> List<T> rows(ResultSet found, Row<T> row) throws SQLException {
        List<T> rows = new ArrayList<>(1);
        while (found.next()) {
            rows.add(row.read(found));
        }
        return rows;
    }

    private <T> T execute(boolean changes, String name, Map<String, ?> parameters, Execution<T> execution) {
        Sql sql = database.statement(name);
        T result = timed(changes && !inTransaction, () -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.text())) {
                sql.bind(statement, parameters);
                return execution.run(statement);
            }
        });
        database.succeeded(); // not reported for BEGIN, which may succeed before each failure
        return result;
    }

    /** @param decides whether what is sent takes effect by itself, as in {@link DatabaseFailure#of} */
    private <T> T timed(boolean decides, Step<T> step) {
        connect();
        long start = System.nanoTime();
        try {
            return step.run();
        } catch (SQLException failed) {
            throw DatabaseFailure.of(failed, decides, isOpen());
        } finally {
            databaseNanos += System.nanoTime() - start;
        }
    }

    /** Asks the driver's connection: the pool's wrapper reports its own state only. */
    private boolean isOpen() {
        try {
            return !connection.unwrap(Connection.class).isClosed();
        } catch (SQLException broken) {
            return false;
        }
    }

    private void connect() {
        if (connection != null) {
            return;
        }
        long start = System.nanoTime();
        try {
            connection = database.connect();
        } catch (SQLException none) {
            throw DatabaseFailure.of(none, false, false);
        } finally {
            connectionNanos += System.nanoTime() - start;
        }
    }

    /** Does some work in a transaction: all of it, or, where it throws, nothing. */
    public <T> T transaction(Supplier<T> work) {
        return transaction(null, work);
    }

    /** @param setting null for none */
    public <T> T transaction(Setting setting, Supplier<T> work) {
        try {
            begin(setting);
            T result = work.get();
            timed(true, () -> {
                connection.commit();
                inTransaction = false;
                return null;
            });
            orEvict(() -> connection.setAutoCommit(true)); // sends nothing, as the transaction has ended
            return result;
        } catch (Throwable thrown) {
            abandon();
            throw thrown;
        }
    }

    /** Begins a transaction. The driver sends BEGIN with the first statement. */
    private void begin(Setting setting) {
        timed(false, () -> {
            connection.setAutoCommit(false);
            inTransaction = true;
            if (setting != null) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(setting.sql);
                }
            }
            return null;
        });
    }

    /** Rolls back an open transaction. Where that fails, the server does so when the connection ends. */
    private void abandon() {
        if (inTransaction) {
            inTransaction = false;
            orEvict(() -> {
                connection.rollback();
                connection.setAutoCommit(true);
            });
        }
    }

    /** Ends some work of the connection. Where that fails, the connection is removed from the pool. */
    private void orEvict(Ending ending) {
        try {
            ending.run();
        } catch (SQLException broken) {
            database.evict(connection);
        }
    }

    /** Gives the connection back to the pool. A failure of this does not undo what was done. */
    @Override
    public void close() {
        if (connection != null) {
            orEvict(connection::close);
        }
    }

    /**
     * A statement of {@code contract/database/statements} in the driver's form.
     *
     * @param names of the parameters, one for each question mark in the text
     */
    record Sql(String text, List<String> names) {
        private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)");
        private static final JsonMapper JSON = JsonMapper.shared();

        /** @param name of the file without its ending; never a text of a request */
        static Sql named(String name) {
            try (InputStream file = Sql.class.getResourceAsStream("/contract/database/statements/" + name + ".sql")) {
                if (file == null) {
                    throw new IllegalStateException("no statement " + name);
                }
                return parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }

        static Sql parse(String named) {
            Matcher parameters = PARAMETER.matcher(named);
            List<String> names =
                    parameters.results().map(found -> found.group(1)).toList();
            return new Sql(parameters.replaceAll("?"), names);
        }

        /**
         * @param values by name, for all parameters and maybe others: null, a list of 64-bit integers, a map, which is
         *     written as JSON, or a type that the driver knows
         */
        void bind(PreparedStatement statement, Map<String, ?> values) throws SQLException {
            for (int i = 0; i < names.size(); i++) {
                String name = names.get(i);
                Object value = values.get(name);
                if (value == null && !values.containsKey(name)) {
                    throw new IllegalArgumentException("no value for " + name);
                }
                if (value instanceof List<?> numbers) {
                    value = statement.getConnection().createArrayOf("int8", numbers.toArray());
                } else if (value instanceof Map<?, ?> members) {
                    value = JSON.writeValueAsString(members);
                }
                statement.setObject(i + 1, value);
            }
        }
    }
}
