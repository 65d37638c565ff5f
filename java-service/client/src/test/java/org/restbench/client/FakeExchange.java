package org.restbench.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A service of messages that are whole numbers: it keeps each until a rule says what comes of it. */
final class FakeExchange implements Exchange {
    /** A message that waits for its answer. */
    record Held(String message, CompletableFuture<Answer> answer) {}

    private final List<Held> held = new ArrayList<>();
    private final List<String> sent = new ArrayList<>();
    private final Consumer<FakeExchange> atArrival;
    private int peak;
    private int answered;

    /** @param atArrival after each message that came, under the monitor */
    FakeExchange(Consumer<FakeExchange> atArrival) {
        this.atArrival = atArrival;
    }

    /** Answers each message at once by itself. */
    static FakeExchange echo() {
        return new FakeExchange(exchange -> exchange.release(0));
    }

    @Override
    public CompletableFuture<Answer> start(byte[] request, Limits limits) {
        Held own = arrive(request);
        own.answer.whenComplete(
                (answer, failure) -> forget(own)); // where it was cancelled; else it is forgotten already
        return own.answer;
    }

    private synchronized Held arrive(byte[] request) {
        Held own = new Held(new String(request, StandardCharsets.UTF_8), new CompletableFuture<>());
        held.add(own);
        sent.add(own.message);
        peak = Math.max(peak, held.size());
        atArrival.accept(this);
        return own;
    }

    private synchronized void forget(Held own) {
        held.remove(own);
    }

    /** Answers the message that came as so many-th of those that wait, with its own text. */
    void release(int index) {
        Held own = take(index);
        own.answer.complete(answer(200, own.message));
    }

    synchronized void releaseIf(boolean isSo) {
        if (isSo) {
            releaseAll();
        }
    }

    /** The one that waits longest, if one does. */
    synchronized void releaseFirst() {
        if (!held.isEmpty()) {
            release(0);
        }
    }

    synchronized void releaseAll() {
        while (!held.isEmpty()) {
            release(0);
        }
    }

    /** Answers it with an error of the service. */
    void refuse(int index, String errorCode) {
        take(index).answer.complete(answer(503, errorCode));
    }

    /** The same, with the seconds after which the call may be sent again. */
    void refuse(int index, String errorCode, String retryAfter) {
        byte[] body = errorCode.getBytes(StandardCharsets.UTF_8);
        take(index).answer.complete(new Answer(503, Map.of("Retry-After", List.of(retryAfter)), body));
    }

    /** Answers it with what no one can read. */
    void garble(int index) {
        take(index).answer.complete(answer(200, "?"));
    }

    void fail(int index, Throwable failure) {
        take(index).answer.completeExceptionally(failure);
    }

    /** Throws in the caller's face. */
    void blowUp(int index) {
        take(index);
        throw new OutOfMemoryError("of a test");
    }

    private synchronized Held take(int index) {
        answered++;
        return held.remove(index);
    }

    static Answer answer(int status, String text) {
        return new Answer(status, Map.of(), text.getBytes(StandardCharsets.UTF_8));
    }

    synchronized String message(int index) {
        return held.get(index).message;
    }

    synchronized int holds() {
        return held.size();
    }

    synchronized int peak() {
        return peak;
    }

    synchronized int answered() {
        return answered;
    }

    synchronized List<String> sent() {
        return List.copyOf(sent);
    }

    @Override
    public void close() {
        while (holds() > 0) {
            fail(0, new IOException("closed"));
        }
    }
}
