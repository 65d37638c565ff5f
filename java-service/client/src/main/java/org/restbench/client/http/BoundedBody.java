package org.restbench.client.http;

import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;

/** A body of bounded size; beyond it the connection is closed. The client's own subscribers have no bound. */
final class BoundedBody implements BodySubscriber<byte[]> {
    private final BodySubscriber<byte[]> whole = BodySubscribers.ofByteArray();
    private final int most;
    private long left;
    private Flow.Subscription subscription;

    /** @param announced the header's length, negative where there is none */
    BoundedBody(int most, long announced) {
        this.most = most;
        left = announced > most ? -1 : most;
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return whole.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        if (left < 0) {
            refuse();
        } else {
            whole.onSubscribe(given);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> pieces) {
        left -= pieces.stream().mapToLong(ByteBuffer::remaining).sum();
        if (left < 0) {
            refuse();
        } else {
            whole.onNext(pieces);
        }
    }

    private void refuse() {
        subscription.cancel();
        onError(new ExchangeFailure(Kind.TOO_LARGE, "an answer of more than " + most + " bytes", null));
    }

    @Override
    public void onError(Throwable cut) {
        whole.onError(cut);
    }

    @Override
    public void onComplete() {
        whole.onComplete();
    }
}
