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
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.restbench.core.Core;
import org.restbench.core.Core.OpenResult;
import org.restbench.core.Exchange;
import org.restbench.core.Head;
import org.restbench.core.Reply;
import org.restbench.settings.Settings;

/** The server of Vert.x core, as of Quarkus: one event loop, and threads for requests unless it runs them. */
final class VertxFramework extends ServerLifecycle {
    private static final Duration LOOP_END = Duration.ofSeconds(2);

    private final ExecutorService threads = EventLoopExchange.threads("vertx");
    private final Executor handoff = settings.runsInLoop() ? null : threads;

    private Vertx vertx;
    private HttpServer server;

    VertxFramework(Core core, Settings settings) {
        super(core, settings);
    }

    @Override
    void listen() {
        vertx = Vertx.vertx(
                new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(1).setInternalBlockingPoolSize(1));
        HttpServerOptions options = new HttpServerOptions()
                .setHost(settings.host())
                .setPort(settings.port())
                .setAcceptBacklog(Framework.BACKLOG)
                .setIdleTimeout(settings.keepAliveSeconds())
                .setMaxHeaderSize(Framework.MAX_HEADER_BYTES)
                .setMaxInitialLineLength(Framework.MAX_LINE_BYTES)
                .setHttp2ClearTextEnabled(false)
                .setHandle100ContinueAutomatically(true);
        server = vertx.createHttpServer(options)
                .requestHandler(request -> new HttpExchange(request).handle())
                .invalidRequestHandler(request -> new HttpExchange(request).refuse());
        try {
            server.listen().toCompletionStage().toCompletableFuture().join();
        } catch (CompletionException failed) {
            vertx.close();
            throw failed;
        }
    }

    @Override
    public int port() {
        return server.actualPort();
    }

    @Override
    void drain(Duration patience) {
        awaitAtMost(patience.plus(LOOP_END), server.shutdown(patience.toMillis(), TimeUnit.MILLISECONDS));
        awaitAtMost(LOOP_END, vertx.close());
        threads.shutdown();
    }

    /** Waits for a limited time, as the event loop that has to complete the future may be running a request. */
    private static void awaitAtMost(Duration patience, Future<?> done) {
        done.toCompletionStage()
                .toCompletableFuture()
                .completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    /** One request of Vert.x. A client that closes its connection is noticed at once. */
    private final class HttpExchange {
        private final HttpServerRequest request;
        private final HttpServerResponse response;
        private final Context eventLoop = Vertx.currentContext();
        private volatile boolean closed;
        private boolean isHeard = true;
        private long watch;

        HttpExchange(HttpServerRequest request) {
            this.request = request;
            this.response = request.response();
        }

        void handle() {
            response.closeHandler(gone -> closed = true);
            OpenResult opened = core.open(new Head(
                    request.method().name(),
                    request.path(),
                    request.query(),
                    request.getHeader(HttpHeaders.CONTENT_TYPE),
                    EventLoopExchange.declaredBytes(
                            request.headers().contains(HttpHeaders.TRANSFER_ENCODING),
                            request.getHeader(HttpHeaders.CONTENT_LENGTH)),
                    () -> !closed,
                    request::getHeader));
            if (opened instanceof Reply reply) {
                send(reply);
            } else {
                receive((Exchange) opened);
            }
        }

        private void receive(Exchange opened) {
            EventLoopExchange exchange = new EventLoopExchange(opened, this::onEventLoop, handoff, this::send);
            watch(exchange);
            request.handler(piece -> {
                isHeard = true;
                exchange.take(piece::getBytes);
            });
            request.endHandler(whole -> {
                eventLoop.owner().cancelTimer(watch);
                exchange.end();
            });
            request.exceptionHandler(gone -> {
                eventLoop.owner().cancelTimer(watch);
                exchange.cutOff();
            });
        }

        /** Cuts off a body without a piece between two looks; the loop may have been busy before the first. */
        private void watch(EventLoopExchange exchange) {
            watch = eventLoop.owner().setTimer(settings.receiveSeconds() * 1000L, look -> {
                if (isHeard) {
                    isHeard = false;
                    watch(exchange);
                } else {
                    cutOff(exchange);
                }
            });
        }

        private void cutOff(EventLoopExchange exchange) {
            if (!response.headWritten()) { // otherwise the request is refused already
                response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
            }
            exchange.cutOff();
            onEventLoop(() -> request.connection().close());
        }

        private void onEventLoop(Runnable task) {
            eventLoop.runOnContext(now -> task.run());
        }

        private void send(Reply reply) {
            byte[] body = reply.body();
            if (closed || response.ended()) {
                reply.sent(); // no client to answer
                return;
            }
            response.setStatusCode(reply.status());
            reply.headers().forEach(response::putHeader);
            response.putHeader(HttpHeaders.DATE, EventLoopExchange.date());
            response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(body.length));
            if (body.length <= Framework.SENT_AT_ONCE_BYTES) {
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

        /** Refuses a request that is not valid HTTP, or whose head is too long. */
        void refuse() {
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
