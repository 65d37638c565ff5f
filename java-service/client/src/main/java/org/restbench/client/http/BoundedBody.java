package org.restbench.client.http;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;

/** A body of bounded size; beyond it the connection is closed. The client's own subscribers have no bound. */
final class BoundedBody implements BodySubscriber<byte[]> {
    private static final int USUAL_BYTES = 1 << 13;
    private static final int MOST_BEFOREHAND = 1 << 20;

    private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
    private final int most;
    private final long announced;
    private final ByteArrayOutputStream soFar;
    private Flow.Subscription subscription;

    /** @param announced the header's length, negative where there is none */
    BoundedBody(int most, long announced) {
        this.most = most;
        this.announced = announced;
        soFar = new ByteArrayOutputStream((int) Math.min(announced < 0 ? USUAL_BYTES : announced, MOST_BEFOREHAND));
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return whole;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        if (announced > most) {
            refuse();
        } else {
            given.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> pieces) {
        for (ByteBuffer piece : pieces) {
            if (whole.isDone()) {
                return;
            }
            if (soFar.size() + (long) piece.remaining() > most) {
                refuse();
                return;
            }
            byte[] bytes = new byte[piece.remaining()];
            piece.get(bytes);
            soFar.write(bytes, 0, bytes.length);
        }
    }

    private void refuse() {
        subscription.cancel();
        whole.completeExceptionally(
                new ExchangeFailure(Kind.TOO_LARGE, "an answer of more than " + most + " bytes", null));
    }

    @Override
    public void onError(Throwable cut) {
        whole.completeExceptionally(cut);
    }

    @Override
    public void onComplete() {
        whole.complete(soFar.toByteArray());
    }
}
