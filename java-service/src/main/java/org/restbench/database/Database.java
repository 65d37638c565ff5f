package org.restbench.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.util.NamedThreadFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.restbench.database.Session.Sql;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A PostgreSQL database and a pool of connections, made as soon as it answers, replaced when they break. */
public final class Database implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Database.class);

    /** The longest wait for a connection of the pool. After it the request fails, as if the database had failed. */
    private static final int CONNECTION_MILLIS = 1000;

    private static final int VALIDATION_MILLIS = 500;
    private static final long PAUSE_NANOS = 100_000_000;

    /** How long a pool that is being closed waits for a thread that is making a connection. */
    private static final int CLOSING_SECONDS = 1;

    /** The time within which a database that is up answers a check. */
    private static final long ANSWER_MILLIS = 250;

    /** How long the database counts as up after an answer. */
    private static final long UP_FOR_NANOS = 1_000_000_000;

    /** Stands for a SQLSTATE where the pool had no free connection and the server has refused none. */
    private static final String NONE_FREE = "no free connection";

    private static final long NONE_FREE_LOG_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final PGSimpleDataSource server = new PGSimpleDataSource();
    private final HikariConfig config = new HikariConfig();
    private final Map<String, Sql> statements = new ConcurrentHashMap<>();
    private final AtomicReference<String> failing = new AtomicReference<>();
    private final AtomicLong noneFreeLoggedAt = new AtomicLong(System.nanoTime() - NONE_FREE_LOG_NANOS);
    private final ScheduledThreadPoolExecutor timer =
            new ScheduledThreadPoolExecutor(2, new NamedThreadFactory("database-timer"));

    private HikariDataSource pool;
    private volatile long answeredAt = System.nanoTime() - UP_FOR_NANOS;
    private volatile String refusal;
    private volatile boolean isClosing;
    private Future<Boolean> asked = CompletableFuture.completedFuture(false);

    /**
     * @param url {@code postgresql://user@host:port/name}
     * @param password null for none
     * @param connections size of the pool; all connections are kept open
     */
    public Database(URI url, String password, int connections) {
        server.setServerNames(new String[] {url.getHost()});
        server.setPortNumbers(new int[] {url.getPort()});
        server.setDatabaseName(url.getPath().substring(1));
        server.setUser(url.getUserInfo());
        server.setPassword(password);
        server.setApplicationName("restbench-java");
        server.setPrepareThreshold(1);
        server.setConnectTimeout(2);
        server.setSocketTimeout(10);
        server.setTcpKeepAlive(true);
        server.setLogServerErrorDetail(false);
        config.setDataSource((DataSource) Proxy.newProxyInstance(
                Database.class.getClassLoader(), new Class<?>[] {DataSource.class}, this::retrying));
        config.setPoolName("database");
        config.setMaximumPoolSize(connections);
        config.setMinimumIdle(connections);
        config.setConnectionTimeout(CONNECTION_MILLIS);
        config.setValidationTimeout(VALIDATION_MILLIS);
        config.setInitializationFailTimeout(-1);
        config.setMaxLifetime(0);
    }

    /**
     * The server's data source for the pool, except that it retries until the server accepts a connection. The pool's
     * own pauses between attempts double from 10 ms up to 5 s, and no setting shortens them: where a server is down for
     * 3 s, the pool would try 2.55 s and then 5.11 s after the server went down.
     *
     * <p>An attempt has the driver's time limits. The pool would give it one second, which is how long a request waits
     * for a connection: on a busy machine each login may take longer, and no connection would ever be made.
     */
    private Object retrying(Object proxy, Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "getConnection" -> patientConnection();
            case "setLoginTimeout" -> null;
            case "getLoginTimeout" -> CLOSING_SECONDS;
            default -> method.invoke(server, arguments);
        };
    }

    private Connection patientConnection() throws SQLException {
        while (true) {
            try {
                Connection made = server.getConnection();
                refusal = null;
                return made;
            } catch (SQLException failed) {
                refusal = failed.getSQLState();
                if (!isClosing) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                if (isClosing || Thread.currentThread().isInterrupted()) { // the pool waits for this thread to end
                    throw failed;
                }
            }
        }
    }

    /** Makes the pool, whether or not the database answers. */
    public void open() {
        pool = new HikariDataSource(config);
    }

    /** Runs a task every {@code seconds} until the database is closed, also after the task has failed. */
    public void every(int seconds, Runnable task) {
        Runnable kept = () -> {
            try {
                task.run();
            } catch (Throwable failed) { // also OutOfMemoryError: the timer never repeats a task that throws
                LOG.warn("what is done every {} s failed: {}", seconds, failed.getClass());
            }
        };
        timer.scheduleWithFixedDelay(kept, seconds, seconds, TimeUnit.SECONDS);
    }

    /**
     * @throws SQLException where the pool has no free connection, with the SQLSTATE of the last attempt to make one if
     *     that failed; the pool itself does not see these attempts fail
     */
    Connection connect() throws SQLException {
        try {
            return pool.getConnection();
        } catch (SQLTransientConnectionException none) {
            throw new SQLException(none.getMessage(), Objects.requireNonNullElse(refusal, NONE_FREE), none);
        }
    }

    /** Removes a connection whose transaction could not be ended from the pool. */
    void evict(Connection connection) {
        pool.evictConnection(connection);
    }

    Sql statement(String name) {
        return statements.computeIfAbsent(name, Sql::named);
    }

    /**
     * Whether the database answers, or has done so within the last second. The check has a connection of its own, as
     * those of the pool may all be in use. It waits only briefly for a silent database, as the caller may be an event
     * loop.
     */
    public boolean isUp() {
        try {
            return System.nanoTime() - answeredAt < UP_FOR_NANOS || ask().get(ANSWER_MILLIS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException | RejectedExecutionException notNow) {
            return false;
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private synchronized Future<Boolean> ask() {
        if (asked.isDone()) {
            asked = timer.submit(this::answers);
        }
        return asked;
    }

    private boolean answers() {
        try (Connection connection = server.getConnection()) {
            return connection.isValid(1);
        } catch (SQLException down) {
            return false;
        }
    }

    /**
     * Logs a failure: one line when requests begin to fail with its SQLSTATE; {@link #succeeded} logs when they no
     * longer do. A lack of free connections may come and go with each request, so it is logged at most once a minute.
     */
    public void report(DatabaseFailure failure) {
        if (failure.state().equals(NONE_FREE)) {
            long loggedAt = noneFreeLoggedAt.get();
            long now = System.nanoTime();
            if (now - loggedAt >= NONE_FREE_LOG_NANOS && noneFreeLoggedAt.compareAndSet(loggedAt, now)) {
                LOG.warn(
                        "a request got no connection to the database within {} ms: all are in use, or being made",
                        CONNECTION_MILLIS);
            }
        } else if (!failure.state().equals(failing.getAndSet(failure.state()))) {
            LOG.warn("the database fails with SQLSTATE {}", failure.state());
        }
    }

    void succeeded() {
        answeredAt = System.nanoTime();
        if (failing.get() != null && failing.getAndSet(null) != null) {
            LOG.info("the database answers again");
        }
    }

    @Override
    public void close() {
        isClosing = true;
        timer.shutdownNow();
        if (pool != null) {
            pool.close();
        }
    }
}
