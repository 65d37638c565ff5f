package org.restbench.client.http;

import java.io.ByteArrayOutputStream;
import java.net.ProtocolException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.restbench.client.Answer;
import org.restbench.client.Exchange;
import org.restbench.client.Limits;

/**
 * Sends POST requests to one URL over HTTP/1.1 by {@code java.net.http}. Two threads, {@code http-N}, serve any number
 * of calls; they run no code of the caller.
 */
public final class HttpExchange implements Exchange {
    private final Connections connections;
    private final HttpRequest.Builder request;

    /**
     * Connects with the first call.
     *
     * @param headers of each request, including {@code Content-Type}
     */
    public HttpExchange(URI url, Map<String, String> headers) {
        this(new Connections(), url, headers);
    }

    private HttpExchange(Connections connections, URI url, Map<String, String> headers) {
        this.connections = connections;
        request = HttpRequest.newBuilder(url);
        headers.forEach(request::header);
    }

    /**
     * An exchange with another URL over the same threads and connections. Closing one of the two closes both.
     *
     * @param headers of each request, including {@code Content-Type}
     */
    public HttpExchange to(URI url, Map<String, String> headers) {
        return new HttpExchange(connections, url, headers);
    }

    /** The threads and the connections of one or several exchanges, with the calls that are in flight on them. */
    private static final class Connections {
        final AtomicInteger number = new AtomicInteger();
        final ExecutorService threads = Executors.newFixedThreadPool(2, task -> {
            Thread thread = new Thread(task, "http-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        final HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1) // else the first request asks for an upgrade to h2c
                .executor(threads)
                .build();
        final Set<CompletableFuture<?>> open = ConcurrentHashMap.newKeySet();
        volatile boolean closed;

        void close() {
            closed = true;
            open.forEach(future -> future.cancel(true));
            // A client can be closed from Java 21 on; before, its selector thread ends once it is garbage-collected.
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

    @Override
    public CompletableFuture<Answer> start(byte[] message, Limits limits) {
        if (connections.closed) {
            throw new IllegalStateException("the exchange is closed");
        }
        HttpRequest post =
                request.copy().POST(BodyPublishers.ofByteArray(message)).build();
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        CompletableFuture<HttpResponse<byte[]>> response =
                connections.client.sendAsync(post, head -> bounded(head, limits.maxAnswerBytes(), answer));
        connections.open.add(answer);
        response.whenCompleteAsync(
                (got, failure) -> {
                    if (failure == null) {
                        answer.complete(
                                new Answer(got.statusCode(), got.headers().map(), got.body()));
                    } else {
                        answer.completeExceptionally(asProtocolFailure(failure));
                    }
                },
                connections.threads);
        // HttpRequest.timeout covers the headers only; only cancelling the future of sendAsync closes the connection.
        answer.orTimeout(limits.perCall().toNanos(), TimeUnit.NANOSECONDS).whenComplete((got, failure) -> {
            connections.open.remove(answer);
            response.cancel(true);
            if (response.isCompletedExceptionally()) { // after a malformed head only a derived future still cancels
                response.newIncompleteFuture().cancel(true);
            }
        });
        if (connections.closed) { // closed since the check above
            answer.cancel(true);
        }
        return answer;
    }

    /** Collects a body; the JDK's subscribers have no bound. TooLarge fails the answer, which ends its connection. */
    private static BodySubscriber<byte[]> bounded(ResponseInfo head, int most, CompletableFuture<Answer> answer) {
        if (head.headers().firstValueAsLong("content-length").orElse(0) > most) {
            answer.completeExceptionally(new TooLarge(most));
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        Consumer<byte[]> add = piece -> {
            if (piece.length > most - body.size()) {
                answer.completeExceptionally(new TooLarge(most));
            } else if (!answer.isDone()) {
                body.writeBytes(piece);
            }
        };
        return BodySubscribers.mapping(
                BodySubscribers.ofByteArrayConsumer(piece -> piece.ifPresent(add)), end -> body.toByteArray());
    }

    /** The JDK's client reports a malformed head by any RuntimeException: it becomes a ProtocolException. */
    private static Throwable asProtocolFailure(Throwable failure) {
        boolean isWrapped = failure instanceof CompletionException && failure.getCause() != null;
        Throwable cause = isWrapped ? failure.getCause() : failure;
        boolean isOfNetwork = !(cause instanceof RuntimeException) || cause instanceof CancellationException;
        return isOfNetwork ? failure : new ProtocolException(cause.toString()).initCause(cause);
    }

    @Override
    public void close() {
        connections.close();
    }
}
