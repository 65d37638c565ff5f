package org.restbench.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
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
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A PostgreSQL database and the connections to it, which are made when it answers, and made anew when they break. */
public final class Database implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Database.class);

    /** For a connection of the pool; then it is the database that has not done it. */
    private static final int CONNECTION_MILLIS = 1000;

    private static final int VALIDATION_MILLIS = 500;
    private static final long PAUSE_MILLIS = 100;

    /** So long a pool that is closed waits for who is making a connection. */
    private static final int CLOSING_SECONDS = 1;

    /** Within which a database that is up says so. */
    private static final long ANSWER_MILLIS = 250;

    /** So long what it has said before stands. */
    private static final long STANDS_NANOS = 1_000_000_000;

    /** In place of a SQLSTATE, where the server has refused no connection. */
    private static final String NONE_FREE = "no free connection";

    private static final long NONE_FREE_TOLD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final PGSimpleDataSource server = new PGSimpleDataSource();
    private final HikariConfig config = new HikariConfig();
    private final Map<String, Sql> statements = new ConcurrentHashMap<>();
    private final AtomicReference<String> failing = new AtomicReference<>();
    private final AtomicLong noneFreeToldAt = new AtomicLong(System.nanoTime() - NONE_FREE_TOLD_NANOS);
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(2, task -> {
        Thread thread = new Thread(task, "database-timer");
        thread.setDaemon(true);
        return thread;
    });

    private HikariDataSource pool;
    private volatile long answeredAt = System.nanoTime() - STANDS_NANOS;
    private volatile String refusal;
    private volatile boolean isClosing;
    private Future<Boolean> asked = CompletableFuture.completedFuture(false);

    /**
     * @param url {@code postgresql://user@host:port/name}
     * @param password null for none
     * @param connections of the pool, all of them kept
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
                Database.class.getClassLoader(), new Class<?>[] {DataSource.class}, this::patiently));
        config.setPoolName("database");
        config.setMaximumPoolSize(connections);
        config.setMinimumIdle(connections);
        config.setConnectionTimeout(CONNECTION_MILLIS);
        config.setValidationTimeout(VALIDATION_MILLIS);
        config.setInitializationFailTimeout(-1);
        config.setMaxLifetime(0);
    }

    /**
     * The server's data source for the pool, but that it makes a connection as soon as the server lets it. The pool's
     * own pauses between attempts double from 10 ms up to 5 s, and no setting shortens them: of a server that is away
     * for 3 s it would ask 2.55 and then 5.11 s after its end.
     *
     * <p>An attempt has the driver's own limits. The pool gives it as long as a request waits, a second: on a busy
     * machine a login may take longer, time after time, and there would never be a connection.
     */
    private Object patiently(Object proxy, Method method, Object[] arguments) throws Throwable {
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
                if (isClosing) { // the pool waits for this thread, and does not interrupt it
                    throw failed;
                }
                pause(failed);
            }
        }
    }

    /** @throws SQLException this failure, where the thread is to end */
    private static void pause(SQLException failure) throws SQLException {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
            throw failure;
        }
    }

    /** Makes the pool, whether or not the database answers. */
    public void open() {
        pool = new HikariDataSource(config);
    }

    /** Does something every so often until it is closed, each time whatever became of it before. */
    public void every(int seconds, Runnable task) {
        Runnable kept = () -> {
            try {
                task.run();
            } catch (Throwable failed) { // also want of memory: what throws is never done again
                LOG.warn("what is done every {} s failed: {}", seconds, failed.getClass());
            }
        };
        timer.scheduleWithFixedDelay(kept, seconds, seconds, TimeUnit.SECONDS);
    }

    /** For one request. It costs nothing before its first statement. */
    public Session session() {
        return new Session(this);
    }

    /** @throws SQLException with the state of the last attempt to make one, which the pool is not told, if it failed */
    Connection connect() throws SQLException {
        try {
            return pool.getConnection();
        } catch (SQLTransientConnectionException none) {
            throw new SQLException(none.getMessage(), Objects.requireNonNullElse(refusal, NONE_FREE), none);
        }
    }

    /** Lets no other request have a connection whose transaction could not be ended. */
    void evict(Connection connection) {
        pool.evictConnection(connection);
    }

    Sql statement(String name) {
        return statements.computeIfAbsent(name, Sql::named);
    }

    /**
     * Whether it answers, or has done so within the last second. It is asked on a connection of its own: those of the
     * pool may all be in use. Who asks waits hardly for one that is silent: it may be an event loop.
     */
    public boolean isUp() {
        try {
            return System.nanoTime() - answeredAt < STANDS_NANOS || ask().get(ANSWER_MILLIS, TimeUnit.MILLISECONDS);
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
     * For the log: a line when requests begin to fail so, and another when they no longer do. That all connections are
     * in use comes and goes with each request: a line a minute at most.
     */
    public void report(DatabaseFailure failure) {
        if (failure.state().equals(NONE_FREE)) {
            long told = noneFreeToldAt.get();
            long now = System.nanoTime();
            if (now - told >= NONE_FREE_TOLD_NANOS && noneFreeToldAt.compareAndSet(told, now)) {
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
