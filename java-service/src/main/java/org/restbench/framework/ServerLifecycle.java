package org.restbench.framework;

import java.time.Duration;
import org.restbench.core.Core;
import org.restbench.settings.Settings;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;

/** Lets Spring start and stop a server that Spring does not support itself. */
abstract class ServerLifecycle implements SmartLifecycle, Framework.Listener {
    final Core core;
    final Settings settings;
    private volatile boolean running;

    ServerLifecycle(Core core, Settings settings) {
        this.core = core;
        this.settings = settings;
    }

    /** Starts the server; returns once it accepts connections. */
    abstract void listen();

    /** Closes the server; requests in flight have this time, and are then cut off. */
    abstract void drain(Duration patience);

    /** @throws PortInUseException where another program listens on the port */
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
