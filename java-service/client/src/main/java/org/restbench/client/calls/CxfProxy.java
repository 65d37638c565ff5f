package org.restbench.client.calls;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.WebServiceException;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.message.Message;
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
 * pass on an empty message: the key under which this object keeps the input and the result. The {@link Limits} of a
 * call have no effect: time is bounded as the constructor says, and the size of an answer is not bounded.
 */
final class CxfProxy<I, O> implements Codec<I, O>, Exchange {
    private static final int OK = 200;
    /** Switched off: it logs a stack trace for each failed call, and the outcomes report the failures. */
    private static final Logger OF_CXF = Logger.getLogger("org.apache.cxf");

    static {
        OF_CXF.setLevel(Level.OFF);
    }

    /**
     * Input and result by message, for as long as the call holds the message: a proxy takes objects, an exchange bytes.
     */
    private final Map<byte[], LastResult> kept = Collections.synchronizedMap(new WeakHashMap<>());

    private final BindingProvider port;
    private final Operation<I, O> operation;

    /** @param result an output, or a {@link ServiceRefused} */
    private record LastResult(Object input, Object result) {}

    /** One call of the port. */
    interface Operation<I, O> {
        /** @throws ServiceRefused where the port throws its declared fault */
        O call(I input) throws ServiceRefused;
    }

    /**
     * @param port shared by threads: each thread has a request context of its own
     * @param perCallMillis limit for connecting, and for waiting for the answer
     */
    CxfProxy(Object port, String url, long perCallMillis, Operation<I, O> operation) {
        this.port = (BindingProvider) port;
        this.operation = operation;
        Map<String, Object> context = this.port.getRequestContext();
        context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, url);
        context.put("thread.local.request.context", true);
        HTTPClientPolicy policy = new HTTPClientPolicy();
        policy.setVersion("1.1"); // else the first request asks for an upgrade to h2c
        policy.setAllowChunking(false);
        policy.setConnectionTimeout(perCallMillis);
        policy.setReceiveTimeout(perCallMillis);
        ((HTTPConduit) ClientProxy.getClient(port).getConduit()).setClient(policy);
    }

    @Override
    public byte[] encode(I input, Loop loop) {
        byte[] message = {};
        kept.put(message, new LastResult(input, null));
        return message;
    }

    /** Makes the call on this thread: the future is complete when this method returns. */
    @Override
    @SuppressWarnings("unchecked") // what encode kept
    public CompletableFuture<Answer> start(byte[] request, Limits limits) {
        I input = (I) kept.get(request).input();
        try {
            kept.put(request, new LastResult(input, operation.call(input)));
            return CompletableFuture.completedFuture(new Answer(OK, headers(), request));
        } catch (ServiceRefused refused) {
            kept.put(request, new LastResult(input, refused));
            return CompletableFuture.completedFuture(new Answer(refused.status(), headers(), request));
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
    @SuppressWarnings("unchecked") // what start kept
    public O decode(Answer answer, Loop loop) throws ServiceRefused {
        Object result = kept.get(answer.body()).result();
        if (result instanceof ServiceRefused refused) {
            throw refused;
        }
        return (O) result;
    }

    @Override
    public void close() {
        ClientProxy.getClient(port).destroy();
    }
}
