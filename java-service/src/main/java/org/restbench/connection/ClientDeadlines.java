package org.restbench.connection;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the wait for clients that send their request or take their answer too slowly, however they space the bytes. The
 * container's own timeouts begin anew with each byte.
 *
 * <p>At each look a connection that is waiting for its client in the middle of a request or an answer is charged with
 * the time since the look before. At the deadline its socket is shut down in that direction only: whoever waits then
 * reads the end of the request (and can still answer), or cannot write on.
 */
final class ClientDeadlines {
    private static final Logger LOG = LoggerFactory.getLogger(ClientDeadlines.class);

    private final long receiveMillis;
    private final long sendMillis;
    /** Only of connections that have waited. */
    private final Map<SocketChannel, Waited> waited = new HashMap<>();

    private static final class Waited {
        private long receivingMillis;
        private long sendingMillis;
        /** As the container noted them at the last look: a new answer was begun or a new request read since. */
        private long lastWrite;

        private long lastRead;
    }

    ClientDeadlines(long receiveMillis, long sendMillis) {
        this.receiveMillis = receiveMillis;
        this.sendMillis = sendMillis;
    }

    /**
     * Called by one thread at a time.
     *
     * @param elapsedMillis since the look before
     */
    void look(Map<SocketChannel, NioSocketWrapper> connections, long elapsedMillis) {
        waited.keySet().retainAll(connections.keySet());
        connections.forEach((channel, connection) -> look(channel, connection, elapsedMillis));
    }

    private void look(SocketChannel channel, NioSocketWrapper connection, long elapsedMillis) {
        ClientWait now = ClientWait.of(connection);
        if (now == ClientWait.IDLE) {
            waited.remove(channel);
        } else if (now != ClientWait.NONE || waited.containsKey(channel)) {
            charge(channel, connection, now, elapsedMillis);
        }
    }

    private void charge(SocketChannel channel, NioSocketWrapper connection, ClientWait now, long elapsedMillis) {
        Waited so = waited.computeIfAbsent(channel, unknown -> new Waited());
        if (so.lastWrite != connection.getLastWrite()) {
            so.receivingMillis = 0;
        }
        if (so.lastRead != connection.getLastRead()) {
            so.sendingMillis = 0;
        }
        so.lastWrite = connection.getLastWrite();
        so.lastRead = connection.getLastRead();
        if (now == ClientWait.RECEIVING && (so.receivingMillis += elapsedMillis) >= receiveMillis) {
            end("send its request", channel, channel::shutdownInput);
        }
        if (now == ClientWait.SENDING && (so.sendingMillis += elapsedMillis) >= sendMillis) {
            end("take its answer", channel, channel::shutdownOutput);
        }
    }

    @FunctionalInterface
    private interface Shutdown {
        void run() throws IOException;
    }

    private static void end(String what, SocketChannel channel, Shutdown shutdown) {
        LOG.debug("a client took too long to {}", what);
        try {
            shutdown.run();
        } catch (IOException gone) {
            LOG.debug("it had gone meanwhile: {}", gone.toString());
        }
    }
}
