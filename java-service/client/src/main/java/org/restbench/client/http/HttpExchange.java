package org.restbench.client.http;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.restbench.client.Answer;
import org.restbench.client.Deadline;
import org.restbench.client.Exchange;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;
import org.restbench.client.Limits;

/**
 * POSTs to one URL over HTTP/1.1 by {@code java.net.http}. Its two threads {@code http-N} serve any number of calls and
 * run no code of the caller.
 */
public final class HttpExchange implements Exchange {
    private static final int THREADS = 2;

    private final ExecutorService threads;
    private final HttpClient client;
    private final HttpRequest.Builder request;
    private final int maxAnswerBytes;
    private final Set<CompletableFuture<?>> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Connects when the first call does.
     *
     * @param headers of each request, {@code Content-Type} among them
     * @param maxAnswerBytes of an answer's body; a longer one is {@code TOO_LARGE} and its connection is closed
     */
    public HttpExchange(URI url, Map<String, String> headers, int maxAnswerBytes) {
        this.maxAnswerBytes = Limits.within("maxAnswerBytes", maxAnswerBytes, Integer.MAX_VALUE);
        AtomicInteger number = new AtomicInteger();
        threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "http-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1) // else the first request asks for an upgrade to h2c
                .executor(threads)
                .build();
        request = HttpRequest.newBuilder(url);
        headers.forEach(request::header);
    }

    @Override
    public Answer send(byte[] message, Deadline deadline) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<byte[]>> future = begin(message);
        try {
            return answer(future.get(Math.max(0, deadline.leftNanos()), TimeUnit.NANOSECONDS));
        } catch (TimeoutException passed) {
            throw late(passed);
        } catch (CancellationException byClose) {
            throw new ExchangeFailure(Kind.CUT_OFF, "the exchange was closed", byClose);
        } catch (ExecutionException failed) {
            throw failure(failed.getCause());
        } finally {
            future.cancel(true); // of one that is not done: closes its connection
        }
    }

    @Override
    public Pending start(byte[] message, Deadline deadline) {
        CompletableFuture<HttpResponse<byte[]>> future = begin(message);
        AtomicBoolean isLate = new AtomicBoolean();
        // HttpRequest.timeout ends with the headers, and cancelling any dependent future leaves the connection open.
        Runnable timer = deadline.whenPassed(() -> {
            isLate.set(true);
            future.cancel(true);
        });
        return new Pending() {
            @Override
            public void whenDone(BiConsumer<Answer, IOException> then) {
                future.whenCompleteAsync(
                        (response, thrown) -> {
                            timer.run();
                            if (thrown == null) {
                                then.accept(answer(response), null);
                            } else {
                                then.accept(null, isLate.get() ? late(thrown) : failure(thrown));
                            }
                        },
                        threads);
            }

            @Override
            public void cancel() {
                timer.run();
                future.cancel(true);
            }
        };
    }

    private static ExchangeFailure late(Throwable cause) {
        return new ExchangeFailure(Kind.TIMEOUT, "the deadline passed", cause);
    }

    private CompletableFuture<HttpResponse<byte[]>> begin(byte[] message) {
        if (closed) {
            throw new IllegalStateException("the exchange is closed");
        }
        HttpRequest post =
                request.copy().POST(BodyPublishers.ofByteArray(message)).build();
        CompletableFuture<HttpResponse<byte[]>> future = client.sendAsync(
                post,
                head -> new BoundedBody(
                        maxAnswerBytes,
                        head.headers().firstValueAsLong("content-length").orElse(-1)));
        open.add(future);
        future.whenComplete((response, thrown) -> open.remove(future));
        return future;
    }

    private static Answer answer(HttpResponse<byte[]> response) {
        return new Answer(response.statusCode(), response.headers().map(), response.body());
    }

    private static ExchangeFailure failure(Throwable thrown) {
        Kind kind = Kind.CUT_OFF;
        Throwable root = thrown;
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            if (each instanceof ExchangeFailure own) {
                return own;
            } else if (each instanceof ConnectException) {
                kind = Kind.CONNECT;
            } else if (each instanceof ProtocolException && kind != Kind.CONNECT) {
                kind = Kind.NOT_HTTP;
            }
            root = each;
        }
        return new ExchangeFailure(kind, String.valueOf(root.getMessage()), thrown);
    }

    /** Closes all connections, those of calls in flight too, and ends the threads. */
    @Override
    public void close() {
        closed = true;
        open.forEach(future -> future.cancel(true));
        // From Java 21 on a client can be closed; before, its selector ends once nobody holds it.
        if ((Object) client instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception failed) {
                throw new IllegalStateException("the HTTP client did not close", failed);
            }
        }
        threads.shutdown();
    }
}
