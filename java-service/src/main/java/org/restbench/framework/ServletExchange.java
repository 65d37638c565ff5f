package org.restbench.framework;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.restbench.core.Core;
import org.restbench.core.Exchange;
import org.restbench.core.Head;
import org.restbench.core.OpenResult;
import org.restbench.core.Reply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request of a servlet container. The body is read on the container's thread, and the answer sent on it where it is
 * there at once; else no thread of the container waits for it, nor for a delay that it asks for.
 *
 * <p>A servlet container does not look at a connection whose request it has read: whether its client has gone is asked
 * of the kernel.
 */
record ServletExchange(HttpServletRequest request, HttpServletResponse response) {
    private static final Logger LOG = LoggerFactory.getLogger(ServletExchange.class);

    /** Attribute of a request whose answer the container asks for. */
    private static final String REPLY = ServletExchange.class.getName() + ".reply";

    void handle(Core core) {
        if (request.getDispatcherType() == DispatcherType.ERROR) {
            sendForContainer(core);
            return;
        }
        OpenResult opened = core.open(new Head(
                request.getMethod(),
                request.getRequestURI(),
                request.getQueryString(),
                request.getContentType(),
                request.getContentLengthLong(),
                GoneClients.SEEN_BY_KERNEL.waits(
                        request.getRemoteAddr(), request.getRemotePort(), request.getLocalPort()),
                request::getHeader));
        if (opened instanceof Reply reply) {
            send(reply);
            return;
        }
        Exchange exchange = (Exchange) opened;
        Reply refused = receive(exchange);
        if (refused != null) {
            sendUnlessContainerDoes(refused);
            return;
        }
        CompletableFuture<Void> delay = exchange.delayed();
        if (!delay.isDone()) {
            AsyncAnswer later = asynchronous();
            delay.thenRun(() -> runLater(exchange, later));
            return;
        }
        CompletableFuture<Reply> answer = exchange.run().toCompletableFuture();
        if (answer.isDone()) {
            send(answer.join());
        } else {
            sendLater(answer, asynchronous());
        }
    }

    private AsyncAnswer asynchronous() {
        AsyncContext context = request.startAsync();
        AsyncAnswer later = new AsyncAnswer(context);
        if (context.getTimeout() == TomcatFramework.Server.NO_TIMEOUT) {
            context.addListener(later);
        } else {
            context.setTimeout(0); // Jetty's word; it leaves a request to who answers it
        }
        return later;
    }

    /**
     * A request that is answered later, which is ended once. Where its answer cannot be sent, Tomcat ends it by itself
     * on another thread, perhaps without a word to who sends, and then uses its objects for the next request. So it has
     * to wait until who sends has done with them.
     */
    static final class AsyncAnswer implements AsyncListener {
        private final AsyncContext context;
        private boolean isOver;

        AsyncAnswer(AsyncContext context) {
            this.context = context;
        }

        synchronized void complete() {
            if (!isOver) {
                isOver = true;
                context.complete();
            }
        }

        @Override
        public void onError(AsyncEvent sent) {
            complete();
        }

        @Override
        public synchronized void onComplete(AsyncEvent done) {
            isOver = true;
        }

        @Override
        public void onTimeout(AsyncEvent never) {}

        @Override
        public void onStartAsync(AsyncEvent never) {}
    }

    /** As a request without a delay. */
    private void runLater(Exchange exchange, AsyncAnswer later) {
        start(
                later.context,
                () -> sendLater(exchange.run().toCompletableFuture(), later),
                () -> exchange.cutOff().sent(),
                none -> sendAndComplete(exchange.refused(none), later));
    }

    /**
     * On a thread of the container.
     *
     * @param over what is done where the container has ended the request: its place and its memory are held until then
     * @param threadless what is done on the current thread instead where the system makes no thread: nobody else would
     *     answer
     */
    static void start(AsyncContext later, Runnable task, Runnable over, Consumer<OutOfMemoryError> threadless) {
        AtomicBoolean isBegun = new AtomicBoolean(); // Jetty queues a task before it makes a thread for it
        try {
            later.start(() -> {
                if (!isBegun.getAndSet(true)) {
                    task.run();
                }
            });
        } catch (IllegalStateException | RejectedExecutionException ended) {
            LOG.debug("the container has ended the request already: {}", ended.getMessage()); // its client is gone
            over.run();
        } catch (OutOfMemoryError none) {
            if (!isBegun.getAndSet(true)) {
                threadless.accept(none);
            }
        }
    }

    /** The container has refused it with a status of its own and comes back for an answer. */
    private void sendForContainer(Core core) {
        Object status = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
        if (request.getAttribute(REPLY) instanceof Reply reply) {
            send(reply);
        } else if (status instanceof Integer known && known == HttpServletResponse.SC_METHOD_NOT_ALLOWED) {
            String method = (String) request.getAttribute(RequestDispatcher.ERROR_METHOD); // TRACE
            String path = (String) request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
            send((Reply) core.open(new Head(method, path, null, null, 0, Head.ALWAYS_WANTED, request::getHeader)));
        } else {
            send(core.refusedByServer(status instanceof Integer known ? known : 500));
        }
    }

    /** Tomcat decides on an error by itself where it cannot read a body, and lets nothing else be sent. */
    private void sendUnlessContainerDoes(Reply reply) {
        if (response.isCommitted()) {
            reply.sent();
            request.setAttribute(REPLY, reply);
        } else {
            send(reply);
        }
    }

    /** Reads the body: null where all of it is there. */
    private Reply receive(Exchange exchange) {
        try {
            return exchange.takeAll(request.getInputStream());
        } catch (IOException | RuntimeException cutOff) { // some of the containers' own are unchecked
            return exchange.cutOff();
        }
    }

    private void sendLater(CompletableFuture<Reply> answer, AsyncAnswer later) {
        answer.thenAccept(reply -> {
            if (reply.body().length <= Framework.SENT_AT_ONCE_BYTES) {
                sendAndComplete(reply, later);
            } else { // the strategy's thread, which has computed it, would wait for the client
                Runnable sending = () -> sendAndComplete(reply, later);
                start(later.context, sending, reply::sent, none -> sending.run());
            }
        });
    }

    private void sendAndComplete(Reply reply, AsyncAnswer later) {
        synchronized (later) {
            send(reply);
            try {
                later.complete();
            } catch (IllegalStateException over) {
                LOG.debug("the container has ended the request already: {}", over.getMessage()); // its client is gone
            }
        }
    }

    private void send(Reply reply) {
        try {
            response.setStatus(reply.status());
            reply.headers().forEach(response::setHeader);
            response.setContentLength(reply.body().length);
            reply.writeTo(response.getOutputStream());
            response.flushBuffer(); // so that the answer has left when the container takes the request for done
        } catch (IOException | IllegalStateException gone) { // the latter where the container has ended the request
            LOG.debug("the client went away before it had its answer: {}", gone.toString()); // no one to answer
        } finally {
            reply.sent();
        }
    }
}
