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
import org.restbench.core.Core.OpenResult;
import org.restbench.core.Exchange;
import org.restbench.core.Head;
import org.restbench.core.Reply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request of a servlet container. The body is read on the container's thread, and the reply is sent on it where it
 * is ready at once; otherwise no thread of the container waits for the reply, nor for a delay that the request asks
 * for.
 *
 * <p>A servlet container does not watch a connection whose request it has read, so {@link GoneClients} asks the kernel
 * whether the client has gone.
 */
record ServletExchange(HttpServletRequest request, HttpServletResponse response) {
    private static final Logger LOG = LoggerFactory.getLogger(ServletExchange.class);

    /** Attribute of a request: the reply to send when the container dispatches the request again as an error. */
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
                request.getHeader("Content-Type"), // getContentType() of Jetty fails where it does not know the charset
                request.getContentLengthLong(),
                GoneClients.SEEN_BY_KERNEL.waits(
                        request.getRemoteAddr(),
                        request.getRemotePort(),
                        request.getLocalAddr(),
                        request.getLocalPort()),
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
            context.setTimeout(0); // Jetty's value for none; Jetty never ends a request by itself
        }
        return later;
    }

    /**
     * A request that is answered later, and is completed once. Where the reply cannot be sent, Tomcat completes the
     * request by itself on another thread, perhaps without an exception in the thread that sends, and then reuses the
     * request's objects for the next request. The lock makes Tomcat wait until the sending thread no longer uses these
     * objects.
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

    private void runLater(Exchange exchange, AsyncAnswer later) {
        start(
                later.context,
                () -> sendLater(exchange.run().toCompletableFuture(), later),
                () -> exchange.cutOff().sent(),
                none -> sendAndComplete(exchange.refused(none), later));
    }

    /**
     * Runs a task on a thread of the container.
     *
     * @param over is run where the container has ended the request, whose place and memory are held until then
     * @param threadless is run on the current thread instead where the system makes no thread, as the request would get
     *     no reply otherwise
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
            LOG.debug("the container has ended the request already: {}", ended.getMessage()); // the client is gone
            over.run();
        } catch (OutOfMemoryError none) {
            if (!isBegun.getAndSet(true)) {
                threadless.accept(none);
            }
        }
    }

    /** Sends the reply where the container dispatches a request that it has refused as an error. */
    private void sendForContainer(Core core) {
        Object status = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
        if (request.getAttribute(REPLY) instanceof Reply reply) {
            send(reply);
        } else if (status instanceof Integer known && known == HttpServletResponse.SC_METHOD_NOT_ALLOWED) {
            String method = (String) request.getAttribute(RequestDispatcher.ERROR_METHOD); // TRACE
            String path = (String) request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
            response.reset(); // the container has put its own methods into Allow
            send((Reply) core.open(new Head(method, path, null, null, 0, Head.ALWAYS_WANTED, request::getHeader)));
        } else {
            send(core.refusedByServer(status instanceof Integer known ? known : 500));
        }
    }

    /** Where Tomcat cannot read a body, only its own error dispatch can send something: it gets the reply. */
    private void sendUnlessContainerDoes(Reply reply) {
        if (response.isCommitted()) {
            reply.sent();
            request.setAttribute(REPLY, reply);
        } else {
            send(reply);
        }
    }

    /** Reads the body. Returns null where it is complete, else the reply that refuses the request. */
    private Reply receive(Exchange exchange) {
        try {
            return exchange.takeAll(request.getInputStream());
        } catch (IOException | RuntimeException cutOff) { // some of the containers' exceptions are unchecked
            return exchange.cutOff();
        }
    }

    private void sendLater(CompletableFuture<Reply> answer, AsyncAnswer later) {
        answer.thenAccept(reply -> {
            if (reply.body().length <= Framework.SENT_AT_ONCE_BYTES) {
                sendAndComplete(reply, later);
            } else { // on the strategy's thread, sending would wait for the client
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
                LOG.debug("the container has ended the request already: {}", over.getMessage()); // the client is gone
            }
        }
    }

    private void send(Reply reply) {
        try {
            response.setStatus(reply.status());
            reply.headers().forEach(response::setHeader);
            response.setContentLength(reply.body().length);
            reply.writeTo(response.getOutputStream());
            response.flushBuffer(); // the reply has left before the container sees the request as done
        } catch (IOException | IllegalStateException gone) { // the latter where the container has ended the request
            LOG.debug("the client went away before it had its answer: {}", gone.toString()); // no one to answer
        } finally {
            reply.sent();
        }
    }
}
