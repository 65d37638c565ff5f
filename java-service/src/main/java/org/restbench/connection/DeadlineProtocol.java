package org.restbench.connection;

import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tomcat's HTTP/1.1 with an end to the patience it has with slow clients: {@link ClientDeadlines} looks at all
 * connections now and then. Tomcat makes it by its class name.
 */
public final class DeadlineProtocol extends Http11NioProtocol {
    private static final Logger LOG = LoggerFactory.getLogger(DeadlineProtocol.class);
    private static final long SLOWEST_LOOK_MILLIS = 1000;

    private final Connections connections;
    private long lookMillis = SLOWEST_LOOK_MILLIS;
    private ClientDeadlines deadlines;
    private ScheduledFuture<?> looking;
    /** A pause of the JVM makes the time between two looks longer than it was meant to be. */
    private long lastLookNanos;

    public DeadlineProtocol() {
        this(new Connections());
    }

    private DeadlineProtocol(Connections connections) {
        super(connections);
        this.connections = connections;
    }

    /** Tomcat's endpoint, which alone knows the connections. */
    private static final class Connections extends NioEndpoint {
        Map<SocketChannel, NioSocketWrapper> open() {
            Map<SocketChannel, NioSocketWrapper> open = new HashMap<>();
            connections.forEach((channel, connection) -> open.put(channel, (NioSocketWrapper) connection));
            return open;
        }
    }

    /** To be called before the start: how long a client may take to send a request, and to take its answer. */
    public void setDeadlines(int receiveSeconds, int sendSeconds) {
        lookMillis = Math.min(SLOWEST_LOOK_MILLIS, 100L * Math.min(receiveSeconds, sendSeconds));
        deadlines = new ClientDeadlines(receiveSeconds * 1000L, sendSeconds * 1000L);
    }

    /** To be called before the start: what a connection reads and writes at once, at most. */
    public void setBuffers(int bytes) {
        connections.getSocketProperties().setAppReadBufSize(bytes);
        connections.getSocketProperties().setAppWriteBufSize(bytes);
    }

    @Override
    public void start() throws Exception {
        super.start();
        lastLookNanos = System.nanoTime();
        looking =
                getUtilityExecutor().scheduleWithFixedDelay(this::look, lookMillis, lookMillis, TimeUnit.MILLISECONDS);
    }

    /** Nothing may be thrown from here: it would be the last look, and nobody would hear of it. */
    void look() {
        long now = System.nanoTime();
        try {
            Map<SocketChannel, NioSocketWrapper> open = connections.open();
            deadlines.look(open, elapsedMillis(now));
            IdleConnections.makeRoom(open, getMaxConnections());
        } catch (Throwable thrown) {
            LOG.error("a look at slow clients failed; the next one is in {} ms", lookMillis, thrown);
        }
    }

    /** Since the look before, which was {@code nowNanos} of the last call. */
    long elapsedMillis(long nowNanos) {
        long elapsedNanos = nowNanos - lastLookNanos;
        lastLookNanos = nowNanos;
        return TimeUnit.NANOSECONDS.toMillis(elapsedNanos);
    }

    @Override
    public void stop() throws Exception {
        if (looking != null) {
            looking.cancel(false);
        }
        super.stop();
    }
}
