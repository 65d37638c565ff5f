package org.restbench.client.calls;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.WebServiceException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.message.Message;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Deadline;
import org.restbench.client.Exchange;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;

/**
 * A proxy as users of CXF have one. It does S, C and D in one call, which counts as C: what goes between codec and
 * exchange is the number under which input and output are kept here.
 */
final class CxfProxy<I, O> implements Codec<I, O>, Exchange {
    private static final int OK = 200;

    private final Map<Long, Object> kept = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private final BindingProvider port;
    private final Operation<I, O> operation;

    /** One call of the port. */
    interface Operation<I, O> {
        /** @throws ServiceRefused what the declared fault says */
        O call(I input) throws ServiceRefused;
    }

    /** @param port which threads may share: the context of a request is a thread's own */
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
        long number = numbers.incrementAndGet();
        kept.put(number, input);
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    @Override
    @SuppressWarnings("unchecked") // what encode kept
    public Answer send(byte[] request, Deadline deadline) throws IOException {
        long number = ByteBuffer.wrap(request).getLong();
        Object result;
        try {
            result = operation.call((I) kept.get(number));
        } catch (ServiceRefused refused) {
            return new Answer(
                    refused.status(), headers(), ("" + refused.errorCode() + refused.getMessage()).getBytes());
        } catch (WebServiceException failed) {
            throw new ExchangeFailure(kind(failed), String.valueOf(failed.getMessage()), failed);
        }
        kept.put(number, result);
        return new Answer(OK, headers(), request);
    }

    @SuppressWarnings("unchecked") // so CXF documents it
    private Map<String, List<String>> headers() {
        Object headers = port.getResponseContext().get(Message.PROTOCOL_HEADERS);
        return headers == null ? Map.of() : (Map<String, List<String>>) headers;
    }

    private static Kind kind(Throwable failed) {
        for (Throwable each = failed; each != null; each = each.getCause()) {
            if (each instanceof SocketTimeoutException || each instanceof HttpTimeoutException) {
                return Kind.TIMEOUT;
            } else if (each instanceof ConnectException) {
                return Kind.CONNECT;
            }
        }
        return failed.getCause() instanceof IOException ? Kind.CUT_OFF : Kind.NOT_HTTP;
    }

    @Override
    @SuppressWarnings("unchecked") // what send kept
    public O decode(Answer answer, Loop loop) throws ServiceRefused {
        if (answer.status() == OK) {
            return (O) kept.remove(ByteBuffer.wrap(answer.body()).getLong());
        }
        String error = new String(answer.body());
        throw new ServiceRefused(answer.status(), error.substring(0, 3), error.substring(3), null);
    }

    /** @throws UnsupportedOperationException always: a proxy holds its thread */
    @Override
    public Pending start(byte[] request, Deadline deadline) {
        throw new UnsupportedOperationException("a proxy holds its thread");
    }

    @Override
    public void close() {
        ClientProxy.getClient(port).destroy();
    }
}
