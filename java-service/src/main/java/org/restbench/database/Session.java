package org.restbench.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What one request does with the database, on one connection, which it takes when it first needs one. Every method
 * throws {@link DatabaseFailure}. Used by one thread.
 */
public final class Session implements AutoCloseable {
    private final Database database;
    private Connection connection;
    private boolean inTransaction;
    private long connectionNanos;
    private long databaseNanos;

    Session(Database database) {
        this.database = database;
    }

    /** Reads one row. */
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** What a transaction is told before its first statement. All other SQL is in the contract's files. */
    public enum Setting {
        REPEATABLE_READ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
        /** The role of services has them switched off, as pops are not to use them. */
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

    /** How long it waited for a connection. */
    public long connectionNanos() {
        return connectionNanos;
    }

    /** How long it waited for answers of the database. */
    public long databaseNanos() {
        return databaseNanos;
    }

    /** The rows of a statement that changes nothing. */
    public <T> List<T> read(String statement, Map<String, ?> parameters, Row<T> row) {
        return execute(false, statement, parameters, executed -> rows(executed.executeQuery(), row));
    }

    /** The rows of a statement that changes something: outside of a transaction it decides. */
    public <T> List<T> write(String statement, Map<String, ?> parameters, Row<T> row) {
        return execute(true, statement, parameters, executed -> rows(executed.executeQuery(), row));
    }

    /** As {@link #write}, of a statement without rows: how many it has changed. */
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
        database.succeeded(); // not that it begins a transaction, which it may do before each failure
        return result;
    }

    /** @param decides whether what is sent is done without anything else */
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

    /** By the driver's word: the pool's is about what it gave. */
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

    /** The driver sends BEGIN with the first statement. */
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

    /** What cannot be undone here is undone by the server when the connection ends. */
    private void abandon() {
        if (inTransaction) {
            inTransaction = false;
            orEvict(() -> {
                connection.rollback();
                connection.setAutoCommit(true);
            });
        }
    }

    /** Lets no other request have a connection that cannot end what it has begun. */
    private void orEvict(Ending ending) {
        try {
            ending.run();
        } catch (SQLException broken) {
            database.evict(connection);
        }
    }

    /** Gives the connection back. What was done stays done, whatever becomes of that. */
    @Override
    public void close() {
        if (connection != null) {
            orEvict(connection::close);
        }
    }
}
