package org.restbench;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/** Between a service and PostgreSQL: ends one connection at the moment that a test has chosen, or holds up all. */
final class BreakingProxy implements AutoCloseable {
    /** What is done by itself. */
    private static final Pattern CHANGES = Pattern.compile("INSERT INTO|DELETE FROM|messages\\.(send|pop|create_queue"
            + "|delete_queue)\\(|pgmq\\.(send|pop|delete)\\(");

    private static final Pattern ENDS = Pattern.compile("COMMIT|ROLLBACK");

    /** When the connection ends, seen from the statement that decides: the only one, or COMMIT. */
    enum Moment {
        /** The one before it has arrived, of a transaction; in it, of a statement by itself. */
        BEFORE,
        /** A part of it has arrived. */
        WITHIN,
        /** The server has answered it. */
        AFTER
    }

    private final ServerSocket door;
    private final int target;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private volatile Moment chosen;
    private volatile boolean silences;
    private volatile long loginMillis;

    BreakingProxy(int target) throws IOException {
        this.target = target;
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "breaking-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    /** A service whose one connection to the database passes here. */
    RunningService service() {
        return new RunningService(PostgresServer.environment(door.getLocalPort(), 1));
    }

    /** Breaks the next transaction of the service, whose connections are new then: they know no statement. */
    void breakNext(RunningService service, Moment moment) {
        endAll();
        service.awaitDatabase();
        chosen = moment;
    }

    /** Leaves the next transaction without its last answer; the connection stays. */
    void silenceNext(RunningService service) {
        silences = true;
        breakNext(service, Moment.AFTER);
    }

    /** Each connection takes so long before it is heard. */
    void logInAfter(long millis) {
        loginMillis = millis;
    }

    /** Whether it is still to be broken. */
    boolean isArmed() {
        return chosen != null;
    }

    /** Ends all connections: what a new one is asked has no statement prepared, and is read here. */
    void endAll() {
        links.forEach(Link::end);
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                link(door.accept());
            } catch (IOException failed) {
                // this connection, or all of them when the door is closed
            }
        }
    }

    private void link(Socket client) throws IOException {
        Link link;
        try {
            link = new Link(client, new Socket(InetAddress.getLoopbackAddress(), target));
        } catch (IOException unreachable) {
            client.close();
            throw unreachable;
        }
        links.add(link);
        start(link::toServer);
        start(link::toClient);
    }

    private final class Link {
        private final Socket client;
        private final Socket server;
        private boolean inTransaction;
        private volatile boolean endsWithAnswer;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void end() {
            links.remove(this);
            for (Socket each : new Socket[] {client, server}) {
                try {
                    each.close();
                } catch (IOException closed) {
                    // it is, then
                }
            }
        }

        /** What the driver sends in one piece is one question. */
        void toServer() {
            byte[] buffer = new byte[1 << 20];
            LockSupport.parkNanos(1_000_000 * loginMillis);
            try {
                for (int read = client.getInputStream().read(buffer); read >= 0; ) {
                    if (pass(Arrays.copyOf(buffer, read))) {
                        return;
                    }
                    read = client.getInputStream().read(buffer);
                }
            } catch (IOException closed) {
                // either side has ended it
            } finally {
                if (!endsWithAnswer) {
                    end();
                }
            }
        }

        /** Whether the connection ends here. */
        private boolean pass(byte[] question) throws IOException {
            String text = new String(question, StandardCharsets.ISO_8859_1);
            inTransaction |= text.contains("BEGIN");
            boolean ends = ENDS.matcher(text).find();
            boolean decides = inTransaction ? ends : CHANGES.matcher(text).find();
            boolean leads = inTransaction && !ends && CHANGES.matcher(text).find();
            inTransaction &= !ends;
            Moment moment = chosen;
            OutputStream out = server.getOutputStream();
            if (moment == Moment.BEFORE && (decides || leads)) {
                chosen = null;
                return true;
            }
            if (moment == Moment.WITHIN && decides) {
                chosen = null;
                out.write(question, 0, question.length / 2);
                return true;
            }
            endsWithAnswer = moment == Moment.AFTER && decides;
            out.write(question);
            return endsWithAnswer;
        }

        void toClient() {
            byte[] buffer = new byte[1 << 20];
            try {
                for (int read = server.getInputStream().read(buffer); read >= 0; ) {
                    if (endsWithAnswer) {
                        chosen = null;
                        return;
                    }
                    client.getOutputStream().write(buffer, 0, read);
                    read = server.getInputStream().read(buffer);
                }
            } catch (IOException closed) {
                // either side has ended it
            } finally {
                if (!endsWithAnswer || !silences) {
                    end();
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
        endAll();
    }
}
