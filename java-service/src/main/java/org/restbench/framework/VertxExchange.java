package org.restbench.framework;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.Executor;
import org.restbench.core.Core;
import org.restbench.core.Exchange;
import org.restbench.core.Head;
import org.restbench.core.Opened;
import org.restbench.core.Reply;

/**
 * One request of Vert.x. All happens on the event loop but the run of the request, which may take long or wait. A
 * client that closes its connection is noticed at once.
 */
final class VertxExchange {
    /** An answer of so many bytes is handed to the kernel in one piece, which takes it at once. */
    private static final int SENT_AT_ONCE_BYTES = 16 << 10;

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Executor threads;
    private final Context eventLoop = Vertx.currentContext();
    private volatile boolean closed;
    private boolean received;

    VertxExchange(HttpServerRequest request, Executor threads) {
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
