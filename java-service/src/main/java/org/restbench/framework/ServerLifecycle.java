package org.restbench.framework;

import java.time.Duration;
import org.restbench.core.Core;
import org.restbench.settings.Settings;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;

/** Starts and stops with Spring a server that Spring does not know. */
abstract class ServerLifecycle implements SmartLifecycle, Framework.Listener {
    final Core core;
    final Settings settings;
    private volatile boolean running;

    ServerLifecycle(Core core, Settings settings) {
        this.core = core;
        this.settings = settings;
    }

    /** Returns once it serves. */
    abstract void listen();

    /**
     * Takes nothing new, lets what is in flight end, and closes.
     *
     * @param patience for what is in flight; then it is cut off
     */
    abstract void drain(Duration patience);

    /** @throws PortInUseException where another program listens there */
    @Override
    public void start() {
        try {
            listen();
        } catch (RuntimeException failed) {
            PortInUseException.throwIfPortBindingException(failed, settings::port);
            throw failed;
        }
        running = true;
    }

    /** Returns when all is answered and closed. */
    @Override
    public void stop() {
        drain(Duration.ofSeconds(settings.stopSeconds()));
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
