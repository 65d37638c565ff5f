package org.restbench.framework;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.restbench.core.Core;
import org.restbench.core.Exchange;
import org.restbench.core.Head;
import org.restbench.core.Opened;
import org.restbench.core.Reply;
import org.restbench.settings.Settings;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The core of Vert.x, which Quarkus stands on: one event loop, and threads for what it must not do. */
@Configuration(proxyBeanMethods = false)
class VertxFramework {
    @Bean
    Server vertxServer(Core core, Settings settings) {
        return new Server(core, settings);
    }

    /** Vert.x' HTTP server. Told to stop it takes nothing new, lets what is in flight end, and then closes. */
    static final class Server implements SmartLifecycle, Framework.Listener {
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

        Server(Core core, Settings settings) {
            this.core = core;
            this.settings = settings;
        }

        @Override
        public void start() {
            vertx = Vertx.vertx(new VertxOptions()
                    .setEventLoopPoolSize(1)
                    .setWorkerPoolSize(1)
                    .setInternalBlockingPoolSize(1));
            HttpServerOptions options = new HttpServerOptions()
                    .setHost(settings.host())
                    .setPort(settings.port())
                    .setAcceptBacklog(BACKLOG)
                    .setIdleTimeout(settings.keepAliveSeconds())
                    .setMaxHeaderSize(MAX_HEADER_BYTES)
                    .setHttp2ClearTextEnabled(false)
                    .setHandle100ContinueAutomatically(true);
            server = vertx.createHttpServer(options)
                    .requestHandler(request -> new HttpExchange(request, threads).handle(core))
                    .invalidRequestHandler(request -> new HttpExchange(request, threads).refuse(core));
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

    /**
     * One request of Vert.x. All happens on the event loop but the run of the request, which may take long or wait. A
     * client that closes its connection is noticed at once.
     */
    private static final class HttpExchange {
        /** An answer of so many bytes is handed to the kernel in one piece, which takes it at once. */
        private static final int SENT_AT_ONCE_BYTES = 16 << 10;

        private final HttpServerRequest request;
        private final HttpServerResponse response;
        private final Executor threads;
        private final Context eventLoop = Vertx.currentContext();
        private volatile boolean closed;
        private boolean received;

        HttpExchange(HttpServerRequest request, Executor threads) {
            this.request = request;
            this.response = request.response();
            this.threads = threads;
        }

        /** Answers it, now or later. */
        void handle(Core core) {
            response.closeHandler(gone -> closed = true);
            Opened opened = core.open(new Head(
                    request.method().name(),
                    request.path(),
                    request.query(),
                    request.getHeader(HttpHeaders.CONTENT_TYPE),
                    declaredBytes(),
                    () -> !closed));
            if (opened instanceof Reply reply) {
                send(reply);
            } else {
                receive((Exchange) opened);
            }
        }

        /** The server has checked it. */
        private long declaredBytes() {
            if (request.headers().contains(HttpHeaders.TRANSFER_ENCODING)) {
                return -1;
            }
            String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
            return length == null ? 0 : Long.parseLong(length);
        }

        private void receive(Exchange exchange) {
            request.handler(piece -> {
                if (!received) {
                    byte[] bytes = piece.getBytes();
                    Reply refused = exchange.take(bytes, 0, bytes.length);
                    received = refused != null;
                    if (received) {
                        send(refused);
                    }
                }
            });
            request.endHandler(end -> {
                if (!received) {
                    received = true;
                    threads.execute(() -> exchange.run().thenAccept(this::sendOnEventLoop));
                }
            });
            request.exceptionHandler(cutOff -> {
                if (!received) {
                    received = true;
                    send(exchange.cutOff());
                }
            });
        }

        private void sendOnEventLoop(Reply reply) {
            eventLoop.runOnContext(now -> send(reply));
        }

        private void send(Reply reply) {
            byte[] body = reply.body();
            if (closed || response.ended()) {
                reply.sent(); // nobody to tell
                return;
            }
            response.setStatusCode(reply.status());
            reply.headers().forEach(response::putHeader);
            response.putHeader(
                    HttpHeaders.DATE, DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)));
            response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(body.length));
            if (body.length <= SENT_AT_ONCE_BYTES) {
                reply.sent();
                response.end(Buffer.buffer(body));
            } else {
                int last = body.length - 1;
                response.write(Buffer.buffer(last).appendBytes(body, 0, last)).onComplete(taken -> {
                    reply.sent();
                    if (taken.succeeded()) {
                        response.end(Buffer.buffer(1).appendByte(body[last]));
                    }
                });
            }
        }

        /** Answers what is not HTTP, or too much of it. */
        void refuse(Core core) {
            Throwable cause = request.decoderResult().cause();
            int status = cause instanceof TooLongHttpHeaderException
                    ? 431
                    : cause instanceof TooLongHttpLineException ? 414 : 400;
            response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
            send(core.refusedByServer(status));
            request.connection().close();
        }
    }
}
