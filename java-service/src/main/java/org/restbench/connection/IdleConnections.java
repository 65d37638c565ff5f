package org.restbench.connection;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;

/** Closes the connections that have been idle longest where there are nearly as many as there may be. */
final class IdleConnections {
    /** Of all connections, those that are kept free for new ones. */
    private static final int ROOM_PARTS = 20;

    /** Younger ones are between two requests. */
    private static final long IDLE_MILLIS = 1000;

    private IdleConnections() {}

    static void makeRoom(Map<SocketChannel, NioSocketWrapper> connections, int most) {
        int tooMany = connections.size() - mostKept(most);
        if (tooMany > 0) {
            longestIdle(connections, tooMany).forEach(IdleConnections::close);
        }
    }

    /** Room for one at least: of few connections the part is none. */
    static int mostKept(int most) {
        return most - Math.max(1, most / ROOM_PARTS);
    }

    private static List<SocketChannel> longestIdle(Map<SocketChannel, NioSocketWrapper> connections, int count) {
        long now = System.currentTimeMillis();
        return connections.entrySet().stream()
                .filter(it -> ClientWait.of(it.getValue()) == ClientWait.IDLE)
                .filter(it -> now - it.getValue().getLastRead() > IDLE_MILLIS)
                .sorted(Comparator.comparingLong(it -> it.getValue().getLastRead()))
                .limit(count)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** As if the client had: the container then closes the connection in its own order. */
    private static void close(SocketChannel idle) {
        try {
            idle.shutdownInput();
        } catch (IOException gone) {
            // its client was quicker
        }
    }
}
