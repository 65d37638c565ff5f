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
 * The body of one request, which an event loop hands over as it comes. The first of three ends decides: the core
 * refuses a piece, the body is whole, or it is cut off. All happens on the event loop but the run of the request, which
 * may take long or wait and has threads unless told otherwise. The delay that a request asks for comes before and holds
 * no thread.
 */
final class EventLoopExchange {
    private static volatile Second now = new Second(-1, "");

    private final Exchange exchange;
    private final Executor loop;
    private final Executor threads;
    private final Consumer<Reply> answer;
    private boolean over;

    /** A second of the clock, as the header Date has it: made once a second, not for each answer. */
    private record Second(long number, String date) {}

    /**
     * @param loop runs what it is given on the event loop, later
     * @param threads where the request runs, null: on the event loop, where all else waits meanwhile
     * @param answer is given the reply once, on the event loop
     */
    EventLoopExchange(Exchange exchange, Executor loop, Executor threads, Consumer<Reply> answer) {
        this.exchange = exchange;
        this.loop = loop;
        this.threads = threads;
        this.answer = answer;
    }

    /** Copies the next bytes of the body; after the end they are dropped. */
    void take(Supplier<byte[]> piece) {
        if (!over) {
            Reply refused = exchange.take(piece);
            over = refused != null;
            if (over) {
                answerLater(refused);
            }
        }
    }

    /** The body is whole. */
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
        } catch (RejectedExecutionException | OutOfMemoryError none) { // the stop, or the system makes no thread
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

    /** No more of it will come. */
    void cutOff() {
        if (!over) {
            over = true;
            answerLater(exchange.cutOff());
        }
    }

    private void answerLater(Reply reply) {
        loop.execute(() -> answer.accept(reply));
    }

    /** Of a body, as {@link org.restbench.core.Head} has it; the server has checked both headers. */
    static long declaredBytes(boolean inChunks, String contentLength) {
        if (inChunks) {
            return -1;
        }
        return contentLength == null ? 0 : Long.parseLong(contentLength);
    }

    /** Threads for what an event loop must not do: as many as there are requests in flight, which the core bounds. */
    static ExecutorService threads(String name) {
        AtomicInteger started = new AtomicInteger();
        return Executors.newCachedThreadPool(
                task -> new Thread(task, "http-" + name + "-" + started.incrementAndGet()));
    }

    /** For the header Date, which these servers do not send by themselves. */
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
