package org.restbench.framework;

import io.netty.handler.codec.DateFormatter;
import java.util.Date;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.restbench.core.Exchange;
import org.restbench.core.Reply;

/**
 * Receives the body of one request, piece by piece, from an event loop. The first of three events ends it: the core
 * refuses a piece, the body is complete, or the body is cut off. Everything happens on the event loop except running
 * the request, which may take long or block, and so has threads of its own unless the settings say otherwise. The delay
 * that a request asks for comes before that and holds no thread.
 */
final class EventLoopExchange {
    private static volatile Second now = new Second(-1, "");

    private final Exchange exchange;
    private final Executor loop;
    private final Executor threads;
    private final Consumer<Reply> answer;
    private boolean over;

    /** A second of the clock and its text in the header Date, which is made once a second and not for each reply. */
    private record Second(long number, String date) {}

    /**
     * @param threads where the request runs; null for the event loop, where everything else waits meanwhile
     * @param answer receives the reply once, on the event loop
     */
    EventLoopExchange(Exchange exchange, Executor loop, Executor threads, Consumer<Reply> answer) {
        this.exchange = exchange;
        this.loop = loop;
        this.threads = threads;
        this.answer = answer;
    }

    /** Copies the next bytes of the body; drops them after the end. */
    void take(Supplier<byte[]> piece) {
        if (!over) {
            Reply refused = exchange.take(piece);
            over = refused != null;
            if (over) {
                answerLater(refused);
            }
        }
    }

    void end() {
        if (!over) {
            over = true;
            CompletableFuture<Void> delay = exchange.delayed();
            if (threads == null && delay.isDone()) {
                run();
            } else {
                delay.thenRun(() -> start(threads == null ? loop : threads));
            }
        }
    }

    private void start(Executor on) {
        try {
            on.execute(this::run);
        } catch (RejectedExecutionException | OutOfMemoryError none) { // the service stops, or there is no thread
            answerLater(exchange.refused(none));
        }
    }

    private void run() {
        CompletableFuture<Reply> reply = exchange.run().toCompletableFuture();
        if (threads == null && reply.isDone()) {
            answer.accept(reply.join());
        } else {
            reply.thenAccept(this::answerLater);
        }
    }

    void cutOff() {
        if (!over) {
            over = true;
            answerLater(exchange.cutOff());
        }
    }

    private void answerLater(Reply reply) {
        loop.execute(() -> answer.accept(reply));
    }

    /** The length of a body as {@link org.restbench.core.Head} has it. The server has checked both headers. */
    static long declaredBytes(boolean inChunks, String contentLength) {
        if (inChunks) {
            return -1;
        }
        return contentLength == null ? 0 : Long.parseLong(contentLength);
    }

    /** Threads for what must not run on an event loop: one for each request in flight at most. */
    static ExecutorService threads(String name) {
        AtomicInteger started = new AtomicInteger();
        return Executors.newCachedThreadPool(
                task -> new Thread(task, "http-" + name + "-" + started.incrementAndGet()));
    }

    /** The value of the header Date, which these servers do not send by themselves. */
    static String date() {
        long number = System.currentTimeMillis() / 1000;
        Second second = now;
        if (second.number != number) {
            second = new Second(number, DateFormatter.format(new Date(number * 1000)));
            now = second;
        }
        return second.date;
    }
}
