package org.restbench.framework;

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import org.reactivestreams.Publisher;
import org.restbench.core.Core;
import org.restbench.core.Core.OpenResult;
import org.restbench.core.Exchange;
import org.restbench.core.Head;
import org.restbench.core.Reply;
import org.restbench.settings.Settings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/** Reactor Netty's server, as of Spring WebFlux: one event loop, and threads for requests unless it runs them. */
final class ReactorNettyFramework extends ServerLifecycle {
    private static final Logger LOG = LoggerFactory.getLogger(ReactorNettyFramework.class);

    private static final Duration LOOP_END = Duration.ofSeconds(1);

    private final ExecutorService threads = EventLoopExchange.threads("reactor");
    private final Executor handoff = settings.runsInLoop() ? null : threads;

    private LoopResources loop;
    private DisposableServer server;

    ReactorNettyFramework(Core core, Settings settings) {
        super(core, settings);
    }

    @Override
    void listen() {
        loop = LoopResources.create("reactor-loop", 1, true);
        HttpServer options = HttpServer.create()
                .host(settings.host())
                .port(settings.port())
                .runOn(loop, false) // Java's own sockets, as in the other servers
                .channelGroup(new DefaultChannelGroup(GlobalEventExecutor.INSTANCE)) // awaited at the end
                .option(ChannelOption.SO_BACKLOG, Framework.BACKLOG)
                .protocol(HttpProtocol.HTTP11)
                .idleTimeout(Duration.ofSeconds(settings.keepAliveSeconds()))
                .readTimeout(Duration.ofSeconds(settings.receiveSeconds()))
                .httpRequestDecoder(decoder -> decoder.maxHeaderSize(Framework.MAX_HEADER_BYTES)
                        .maxInitialLineLength(Framework.MAX_LINE_BYTES))
                .handle((request, response) -> new HttpExchange(request, response).handle());
        try {
            server = options.bindNow();
        } catch (RuntimeException failed) {
            loop.dispose();
            throw failed;
        }
    }

    @Override
    public int port() {
        return server.port();
    }

    @Override
    void drain(Duration patience) {
        try {
            server.disposeNow(patience);
        } catch (IllegalStateException late) {
            LOG.warn("requests in flight are cut off: {}", late.getMessage());
        }
        loop.disposeLater(Duration.ZERO, LOOP_END)
                .timeout(LOOP_END.multipliedBy(2), Mono.empty()) // the loop may be running a request
                .block();
        threads.shutdown();
    }

    /** One request of Reactor Netty. A client that closes its connection is noticed at once. */
    private final class HttpExchange {
        private final HttpServerRequest request;
        private final HttpServerResponse response;
        private final Sinks.One<Reply> answer = Sinks.one();
        private Channel channel;

        HttpExchange(HttpServerRequest request, HttpServerResponse response) {
            this.request = request;
            this.response = response;
            request.withConnection(connection -> channel = connection.channel());
        }

        Publisher<Void> handle() {
            HttpHeaders headers = request.requestHeaders();
            String target = Framework.withoutAuthority(request.uri());
            int query = target.indexOf('?');
            OpenResult opened = core.open(new Head(
                    request.method().name(),
                    query < 0 ? target : target.substring(0, query),
                    query < 0 ? null : target.substring(query + 1),
                    headers.get(HttpHeaderNames.CONTENT_TYPE),
                    EventLoopExchange.declaredBytes(
                            headers.contains(HttpHeaderNames.TRANSFER_ENCODING),
                            headers.get(HttpHeaderNames.CONTENT_LENGTH)),
                    channel::isActive,
                    headers::get));
            if (opened instanceof Reply reply) {
                return send(reply);
            }
            receive((Exchange) opened);
            return answer.asMono().flatMap(this::send);
        }

        private void receive(Exchange opened) {
            EventLoopExchange exchange = new EventLoopExchange(opened, channel.eventLoop(), handoff, this::emit);
            request.receive()
                    .subscribe(
                            piece -> exchange.take(() -> ByteBufUtil.getBytes(piece)),
                            gone -> exchange.cutOff(),
                            exchange::end);
        }

        /** Called on the event loop, which also closes connections: one that is open now stays open meanwhile. */
        private void emit(Reply reply) {
            if (channel.isActive()) {
                answer.tryEmitValue(reply).orThrow();
            } else {
                reply.sent(); // the client is gone
            }
        }

        private Mono<Void> send(Reply reply) {
            byte[] body = reply.body();
            response.status(reply.status());
            reply.headers().forEach(response::header);
            response.header(HttpHeaderNames.DATE, EventLoopExchange.date());
            response.header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length));
            Mono<Void> sending;
            if (body.length <= Framework.SENT_AT_ONCE_BYTES) {
                reply.sent();
                sending = response.sendByteArray(Mono.just(body)).then();
            } else {
                int last = body.length - 1;
                sending = sendPart(Arrays.copyOf(body, last))
                        .then(Mono.fromRunnable(reply::sent))
                        .then(Mono.defer(() -> sendPart(new byte[] {body[last]})));
            }
            return sending.doFinally(end -> reply.sent());
        }

        /** Done when the kernel has it. A Flux that is not hidden would be sent as a whole response. */
        private Mono<Void> sendPart(byte[] bytes) {
            return response.sendByteArray(Flux.just(bytes).hide()).then();
        }
    }
}
