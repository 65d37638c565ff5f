package org.restbench.connection;

import java.nio.channels.SelectionKey;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;

/** What a connection waits for its client to do, at this moment. */
enum ClientWait {
    /** A request, of which nothing has come yet. */
    IDLE,
    /** The rest of a request. */
    RECEIVING,
    /** To take more of an answer. */
    SENDING,
    /** Nothing: the service is at work. */
    NONE;

    /**
     * A thread that is in the middle of a request holds the connection's lock, and has asked for the socket's readiness
     * while it waits for the client. A request whose header is not whole has no thread, but a processor that keeps it.
     */
    static ClientWait of(NioSocketWrapper connection) {
        boolean atWork = connection.getLock().isLocked();
        if (atWork && connection.interestOpsHas(SelectionKey.OP_WRITE)) {
            return SENDING;
        }
        if (!connection.interestOpsHas(SelectionKey.OP_READ)) {
            return NONE; // at work, or on the way to a thread
        }
        return atWork || connection.getCurrentProcessor() != null ? RECEIVING : IDLE;
    }
}
