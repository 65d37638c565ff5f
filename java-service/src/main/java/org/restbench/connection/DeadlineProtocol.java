package org.restbench.connection;

import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;

/**
 * Tomcat's HTTP/1.1 with an end to the patience it has with slow clients: {@link ClientDeadlines} looks at all
 * connections now and then. Tomcat makes it by its class name.
 */
public final class DeadlineProtocol extends Http11NioProtocol {
    private static final long SLOWEST_LOOK_MILLIS = 1000;

    private final Connections connections;
    private long lookMillis = SLOWEST_LOOK_MILLIS;
    private ClientDeadlines deadlines;
    private ScheduledFuture<?> looking;

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

    @Override
    public void start() throws Exception {
        super.start();
        looking =
                getUtilityExecutor().scheduleWithFixedDelay(this::look, lookMillis, lookMillis, TimeUnit.MILLISECONDS);
    }

    private void look() {
        Map<SocketChannel, NioSocketWrapper> open = connections.open();
        deadlines.look(open, lookMillis);
        IdleConnections.makeRoom(open, getMaxConnections());
    }

    @Override
    public void stop() throws Exception {
        if (looking != null) {
            looking.cancel(false);
        }
        super.stop();
    }
}
