package org.restbench.client.calls;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.WebServiceException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Exchange;
import org.restbench.client.Limits;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;

/**
 * A client proxy of Apache CXF. The proxy runs S, C and D in one call, which counts as C. Codec and exchange therefore
 * pass on an empty message, and this object keeps the input and the result: S, C and D of a call must run on one
 * thread. The size of an answer is not bounded.
 */
final class CxfProxy<I, O> implements Codec<I, O>, Exchange {
    private static final int OK = 200;
    private static final byte[] EMPTY = {};
    /** Switched off: it logs a stack trace for each failed call, and the outcomes report the failures. */
    private static final Logger OF_CXF = Logger.getLogger("org.apache.cxf");

    static {
        OF_CXF.setLevel(Level.OFF);
    }

    private final BindingProvider port;
    private final Operation<I, O> operation;
    /** Of the call that a thread makes: a proxy takes objects, an exchange bytes. */
    private final ThreadLocal<I> input = new ThreadLocal<>();

    private final ThreadLocal<Result<O>> result = new ThreadLocal<>();

    /** The body of the answer, once its head is there: the receive timeout of CXF ends with the head. */
    private final ThreadLocal<CompletableFuture<InputStream>> body = new ThreadLocal<>();

    /** @param refusal null where there is an output */
    private record Result<O>(O output, ServiceRefused refusal) {}

    /** One call of the port. */
    interface Operation<I, O> {
        /** @throws ServiceRefused where the port throws its declared fault */
        O call(I input) throws ServiceRefused;
    }

    /** @param port shared by threads: each thread has a request context of its own */
    CxfProxy(Object port, String url, Operation<I, O> operation) {
        this.port = (BindingProvider) port;
        this.operation = operation;
        Map<String, Object> context = this.port.getRequestContext();
        context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, url);
        context.put("thread.local.request.context", true);
        HTTPClientPolicy policy = new HTTPClientPolicy();
        policy.setVersion("1.1"); // else the first request asks for an upgrade to h2c
        policy.setAllowChunking(false);
        policy.setConnectionTimeout(0); // the receive timeout of each call begins before
        ((HTTPConduit) ClientProxy.getClient(port).getConduit()).setClient(policy);
        ClientProxy.getClient(port).getInInterceptors().add(new AbstractPhaseInterceptor<>(Phase.RECEIVE) {
            @Override
            public void handleMessage(Message answer) {
                body.get().complete(answer.getContent(InputStream.class));
            }
        });
    }

    @Override
    public byte[] encode(I given, Loop loop) {
        input.set(given);
        return EMPTY;
    }

    /** Makes the call on this thread: the future is complete when this method returns. */
    @Override
    public CompletableFuture<Answer> start(byte[] request, Limits limits) {
        port.getRequestContext()
                .put(Message.RECEIVE_TIMEOUT, Math.max(1, limits.perCall().toMillis())); // 0 is no limit
        CompletableFuture<InputStream> own = new CompletableFuture<>();
        body.set(own);
        CompletableFuture<Void> late = new CompletableFuture<>();
        late.thenAcceptBoth(own, (none, open) -> close(open));
        late.completeOnTimeout(null, limits.perCall().toNanos(), TimeUnit.NANOSECONDS);
        try {
            CompletableFuture<Answer> answer = call();
            boolean isLate = late.isDone() && answer.isCompletedExceptionally();
            return isLate ? CompletableFuture.failedFuture(new TimeoutException("no whole answer in time")) : answer;
        } finally {
            late.cancel(false); // else the timer would keep the call in memory
        }
    }

    /** Ends a read of the body, whose connection it closes. An interrupt does so only from Java 20 on. */
    private static void close(InputStream body) {
        try {
            body.close();
        } catch (IOException useless) {
            // the thread that reads the body tells what becomes of its call
        }
    }

    private CompletableFuture<Answer> call() {
        try {
            result.set(new Result<>(operation.call(input.get()), null));
            return CompletableFuture.completedFuture(new Answer(OK, headers(), EMPTY));
        } catch (ServiceRefused refused) {
            result.set(new Result<>(null, refused));
            return CompletableFuture.completedFuture(new Answer(refused.status(), headers(), EMPTY));
        } catch (WebServiceException failed) {
            boolean isCut = failed.getCause() instanceof IOException;
            Throwable noHttp = new ProtocolException(failed.getMessage()).initCause(failed);
            return CompletableFuture.failedFuture(isCut ? failed : noHttp);
        }
    }

    @SuppressWarnings("unchecked") // the type that CXF documents
    private Map<String, List<String>> headers() {
        Object headers = port.getResponseContext().get(Message.PROTOCOL_HEADERS);
        return headers == null ? Map.of() : (Map<String, List<String>>) headers;
    }

    @Override
    public O decode(Answer answer, Loop loop) throws ServiceRefused {
        Result<O> own = result.get();
        if (own.refusal() != null) {
            throw own.refusal();
        }
        return own.output();
    }

    @Override
    public void close() {
        ClientProxy.getClient(port).destroy();
    }
}
