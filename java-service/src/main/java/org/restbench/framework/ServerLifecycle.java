package org.restbench.framework;

import java.time.Duration;
import org.restbench.settings.Settings;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;

/** Starts and stops with Spring a server that Spring does not know. */
final class ServerLifecycle implements SmartLifecycle, Framework.Listener {
    interface Server {
        /** Returns once it serves. */
        void listen();

        int port();

        /**
         * Takes nothing new, lets what is in flight end, and closes.
         *
         * @param patience for what is in flight; then it is cut off
         */
        void drain(Duration patience);
    }

    private final Server server;
    private final Settings settings;
    private volatile boolean running;

    ServerLifecycle(Server server, Settings settings) {
        this.server = server;
        this.settings = settings;
    }

    /** @throws PortInUseException where another program listens there */
    @Override
    public void start() {
        try {
            server.listen();
        } catch (RuntimeException failed) {
            PortInUseException.throwIfPortBindingException(failed, settings::port);
            throw failed;
        }
        running = true;
    }

    @Override
    public int port() {
        return server.port();
    }

    /** Returns when all is answered and closed. */
    @Override
    public void stop() {
        server.drain(Duration.ofSeconds(settings.stopSeconds()));
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
