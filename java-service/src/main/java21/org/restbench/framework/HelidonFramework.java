package org.restbench.framework;

import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.Method;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.http.encoding.ContentDecoder;
import io.helidon.http.encoding.ContentEncoder;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.encoding.ContentEncodingContextConfig;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.restbench.core.Core;
import org.restbench.core.Core.OpenResult;
import org.restbench.core.Exchange;
import org.restbench.core.Head;
import org.restbench.core.Reply;
import org.restbench.settings.Settings;

/**
 * Helidon SE: one virtual thread per connection, which runs the connection's requests. So under a strategy that works
 * on the calling thread, at most as many requests are computed at once as there are cores. Compiled for Java 21, as
 * Helidon is.
 *
 * <p>Helidon does not watch a connection while its request runs, so {@link GoneClients} asks the kernel whether the
 * client has gone.
 */
final class HelidonFramework extends ServerLifecycle {
    private WebServer server;
    private volatile boolean stopping;

    HelidonFramework(Core core, Settings settings) {
        super(core, settings);
    }

    @Override
    void listen() {
        requireFreePort();
        Duration keepAlive = Duration.ofSeconds(settings.keepAliveSeconds());
        server = WebServer.builder()
                .host(settings.host())
                .port(settings.port())
                .backlog(Framework.BACKLOG)
                .shutdownHook(false)
                .shutdownGracePeriod(Duration.ofSeconds(settings.stopSeconds()))
                .idleConnectionTimeout(keepAlive)
                .idleConnectionPeriod(keepAlive.dividedBy(10))
                .connectionOptions(socket -> socket.tcpNoDelay(true).readTimeout(keepAlive))
                .maxPayloadSize(core.maxBodyBytes()) // Helidon reads a chunk whole before the core sees it
                .contentEncoding(new IdentityEncoding())
                .directHandlers(refusals())
                .protocolsDiscoverServices(false)
                .addProtocol(Http1Config.builder()
                        .maxHeadersSize(Framework.MAX_HEADER_BYTES)
                        .maxPrologueLength(Framework.MAX_LINE_BYTES)
                        .validatePath(false) // the core answers any path, and compares it as sent
                        .validatePrologue(false)
                        .continueImmediately(true) // else the body after a refusal would be read as a request
                        .build())
                .routing(routing -> routing.any(this::handle))
                .build()
                .start();
        if (!server.isRunning()) {
            throw new IllegalStateException("Helidon did not start; its log says why");
        }
    }

    /** Binds the port before Helidon does, as Helidon would only log that it cannot listen there. */
    private void requireFreePort() {
        try (ServerSocket place = new ServerSocket()) {
            place.bind(new InetSocketAddress(settings.host(), settings.port()));
        } catch (IOException taken) {
            throw new UncheckedIOException(taken);
        }
    }

    /** The core's replies to requests that Helidon refuses before they reach the handler. */
    private DirectHandlers refusals() {
        DirectHandlers.Builder all = DirectHandlers.builder();
        for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
            all.addHandler(type, (request, event, status, headers, message) -> {
                Reply reply = core.refusedByServer(status.code());
                DirectHandler.TransportResponse.Builder response =
                        DirectHandler.TransportResponse.builder().status(status);
                reply.headers().forEach((name, value) -> response.header(HeaderNames.create(name), value));
                return response.entity(reply.body()).build();
            });
        }
        return all.build();
    }

    @Override
    public int port() {
        return server.port();
    }

    @Override
    void drain(Duration patience) {
        stopping = true;
        server.stop();
    }

    private void handle(ServerRequest request, ServerResponse response) {
        long begunNanos = System.nanoTime();
        long declaredBytes = request.headers().contains(HeaderNames.TRANSFER_ENCODING)
                ? -1
                : request.headers().contentLength().orElse(0);
        OpenResult opened = core.open(new Head(
                request.prologue().method().text(),
                Framework.withoutAuthority(request.prologue().uriPath().rawPath()),
                request.prologue().hasQuery() ? request.prologue().query().rawValue() : null,
                request.headers().first(HeaderNames.CONTENT_TYPE).orElse(null),
                declaredBytes,
                GoneClients.SEEN_BY_KERNEL.waits(
                        request.remotePeer().host(),
                        request.remotePeer().port(),
                        request.localPeer().host(),
                        request.localPeer().port()),
                name -> request.headers().first(HeaderNames.create(name)).orElse(null)));
        Reply reply = opened instanceof Exchange exchange ? answer(exchange, request, response) : (Reply) opened;
        // Helidon counts a connection as idle from the start of its request, and closes it after the reply
        boolean isIdle = System.nanoTime() - begunNanos >= TimeUnit.SECONDS.toNanos(settings.keepAliveSeconds());
        if (stopping || isIdle) {
            response.header(HeaderValues.CONNECTION_CLOSE);
        }
        send(reply, request.prologue().method().equals(Method.HEAD), response);
        if (response.headers().contains(HeaderValues.CONNECTION_CLOSE)) {
            throw new CloseConnectionException("the service asked for it"); // otherwise Helidon would go on reading
        }
    }

    private static Reply answer(Exchange exchange, ServerRequest request, ServerResponse response) {
        try {
            Reply refused = exchange.takeAll(request.content().inputStream());
            if (refused != null) {
                return refused;
            }
        } catch (IOException | RuntimeException failed) { // Helidon's exceptions are unchecked
            response.header(HeaderValues.CONNECTION_CLOSE); // otherwise the rest of the body would be read as a request
            return failed instanceof RequestException refused
                            && refused.status().equals(Status.REQUEST_ENTITY_TOO_LARGE_413)
                    ? exchange.tooLarge()
                    : exchange.cutOff();
        }
        exchange.delayed().join(); // parks the virtual thread
        return exchange.run().toCompletableFuture().join();
    }

    private static void send(Reply reply, boolean isHead, ServerResponse response) {
        byte[] body = reply.body();
        response.status(Status.create(reply.status()));
        reply.headers().forEach((name, value) -> response.header(HeaderNames.create(name), value));
        response.headers().contentLength(body.length);
        if (isHead) { // from whose answer Helidon would not leave out a body
            reply.sent();
            response.send();
        } else if (body.length <= Framework.SENT_AT_ONCE_BYTES) {
            reply.sent();
            response.send(body); // writes head and body at once; a stream writes twice
        } else {
            try (OutputStream out = response.outputStream()) {
                reply.writeTo(out);
            } catch (IOException gone) {
                throw new UncheckedIOException(gone); // Helidon closes the connection
            } finally {
                reply.sent();
            }
        }
    }

    /** Bodies are taken and sent as they are, whatever Content-Encoding and Accept-Encoding say. */
    private static final class IdentityEncoding implements ContentEncodingContext {
        @Override
        public ContentEncodingContextConfig prototype() {
            return ContentEncodingContextConfig.builder()
                    .contentEncodingsDiscoverServices(false)
                    .buildPrototype();
        }

        @Override
        public boolean contentEncodingEnabled() {
            return false;
        }

        @Override
        public boolean contentDecodingEnabled() {
            return true;
        }

        @Override
        public boolean contentEncodingSupported(String encoding) {
            return false;
        }

        @Override
        public boolean contentDecodingSupported(String encoding) {
            return true;
        }

        @Override
        public ContentEncoder encoder(String encoding) {
            return ContentEncoder.NO_OP;
        }

        @Override
        public ContentDecoder decoder(String encoding) {
            return ContentDecoder.NO_OP;
        }

        @Override
        public ContentEncoder encoder(Headers headers) {
            return ContentEncoder.NO_OP;
        }
    }
}
