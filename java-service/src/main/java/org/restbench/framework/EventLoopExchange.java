package org.restbench.framework;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.restbench.core.Exchange;
import org.restbench.core.Reply;

/**
 * The body of one request, which an event loop hands over as it comes. The first of three ends decides: the core
 * refuses a piece, the body is whole, or it is cut off. All happens on the event loop but the run of the request, which
 * may take long or wait. The delay that a request asks for comes before and holds no thread.
 */
final class EventLoopExchange {
    /** An answer of so many bytes is handed to the kernel in one piece, which takes it at once. */
    static final int SENT_AT_ONCE_BYTES = 16 << 10;

    private static final int IDLE_THREAD_SECONDS = 60;

    private final Exchange exchange;
    private final Executor threads;
    private final Consumer<Reply> answer;
    private boolean over;

    /**
     * @param threads where the request runs
     * @param answer is given the reply once, on any thread
     */
    EventLoopExchange(Exchange exchange, Executor threads, Consumer<Reply> answer) {
        this.exchange = exchange;
        this.threads = threads;
        this.answer = answer;
    }

    /** The next bytes of the body; after the end they are dropped. */
    void take(byte[] piece) {
        if (!over) {
            Reply refused = exchange.take(piece, 0, piece.length);
            over = refused != null;
            if (over) {
                answer.accept(refused);
            }
        }
    }

    /** The body is whole. */
    void end() {
        if (!over) {
            over = true;
            exchange.delayed().thenRunAsync(() -> exchange.run().thenAccept(answer), threads);
        }
    }

    /** No more of it will come. */
    void cutOff() {
        if (!over) {
            over = true;
            answer.accept(exchange.cutOff());
        }
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
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_THREAD_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> new Thread(task, "http-" + name + "-" + started.incrementAndGet()));
    }

    /** For the header Date, which these servers do not send by themselves. */
    static String date() {
        return DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC));
    }
}
