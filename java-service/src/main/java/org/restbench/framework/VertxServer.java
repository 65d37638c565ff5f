package org.restbench.framework;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.restbench.core.Core;
import org.restbench.settings.Settings;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;

/** Vert.x' HTTP server. Told to stop it takes nothing new, lets what is in flight end, and then closes. */
final class VertxServer implements SmartLifecycle, Framework.Listener {
    private static final int BACKLOG = 4096;
    private static final int MAX_HEADER_BYTES = 16 << 10;
    private static final int IDLE_THREAD_SECONDS = 60;

    private final Core core;
    private final Settings settings;
    private final AtomicInteger started = new AtomicInteger();
    /** As many as there are requests in flight, which the core bounds. */
    private final ExecutorService threads = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_THREAD_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> new Thread(task, "http-vertx-" + started.incrementAndGet()));

    private Vertx vertx;
    private HttpServer server;
    private volatile boolean running;

    VertxServer(Core core, Settings settings) {
        this.core = core;
        this.settings = settings;
    }

    @Override
    public void start() {
        vertx = Vertx.vertx(
                new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(1).setInternalBlockingPoolSize(1));
        HttpServerOptions options = new HttpServerOptions()
                .setHost(settings.host())
                .setPort(settings.port())
                .setAcceptBacklog(BACKLOG)
                .setIdleTimeout(settings.keepAliveSeconds())
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setHttp2ClearTextEnabled(false)
                .setHandle100ContinueAutomatically(true);
        server = vertx.createHttpServer(options)
                .requestHandler(request -> new VertxExchange(request, threads).handle(core))
                .invalidRequestHandler(request -> new VertxExchange(request, threads).refuse(core));
        try {
            await(server.listen());
        } catch (CompletionException failed) {
            vertx.close();
            PortInUseException.throwIfPortBindingException(toException(failed.getCause()), settings::port);
            throw failed;
        }
        running = true;
    }

    private static Exception toException(Throwable cause) {
        return cause instanceof Exception exception ? exception : new IllegalStateException(cause);
    }

    @Override
    public int port() {
        return server.actualPort();
    }

    /** Returns when all is answered and closed. */
    @Override
    public void stop() {
        await(server.shutdown(settings.stopSeconds(), TimeUnit.SECONDS));
        await(vertx.close());
        threads.shutdown();
        running = false;
    }

    private static void await(Future<?> done) {
        done.toCompletionStage().toCompletableFuture().join();
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
