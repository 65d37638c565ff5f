package org.restbench.soap;

import java.io.OutputStream;
import java.util.List;
import java.util.Set;
import java.util.logging.Logger;
import javax.xml.stream.XMLStreamReader;
import org.apache.cxf.Bus;
import org.apache.cxf.common.logging.LogUtils;
import org.apache.cxf.message.Exchange;
import org.apache.cxf.message.ExchangeImpl;
import org.apache.cxf.message.Message;
import org.apache.cxf.message.MessageImpl;
import org.apache.cxf.service.model.EndpointInfo;
import org.apache.cxf.transport.AbstractDestination;
import org.apache.cxf.transport.Conduit;
import org.apache.cxf.transport.DestinationFactory;
import org.apache.cxf.ws.addressing.EndpointReferenceType;

/** CXF's transport from and to memory: the web framework handles HTTP, and has read the whole body. */
final class ArrayDestination extends AbstractDestination {
    private static final Logger LOG = LogUtils.getL7dLogger(ArrayDestination.class);

    private ArrayDestination(Bus bus, EndpointInfo endpoint) {
        super(bus, new EndpointReferenceType(), endpoint);
    }

    static final class Factory implements DestinationFactory {
        /** The transport's id in the WSDL. */
        private static final String HTTP = "http://schemas.xmlsoap.org/soap/http";

        @Override
        public ArrayDestination getDestination(EndpointInfo endpoint, Bus bus) {
            return new ArrayDestination(bus, endpoint);
        }

        @Override
        public Set<String> getUriPrefixes() {
            return Set.of("/");
        }

        @Override
        public List<String> getTransportIds() {
            return List.of(HTTP);
        }
    }

    /** Lets CXF process a request. Returns when it is answered, or has failed. */
    void receive(SoapCall call) {
        Exchange exchange = new ExchangeImpl();
        exchange.put(SoapCall.class, call);
        exchange.setDestination(this);
        Message request = new MessageImpl();
        request.setExchange(exchange);
        request.put(Message.CONTENT_TYPE, SoapProtocol.TEXT_XML);
        request.put(Message.ENCODING, "UTF-8");
        request.setContent(XMLStreamReader.class, call.reader());
        getMessageObserver().onMessage(request);
    }

    @Override
    protected Conduit getInbuiltBackChannel(Message request) {
        return new BackChannel();
    }

    /** The way of an answer: CXF writes it to the call's stream. */
    private final class BackChannel extends AbstractBackChannelConduit {
        @Override
        public void prepare(Message answer) {
            SoapCall call = answer.getExchange().get(SoapCall.class);
            answer.setContent(OutputStream.class, call.answer());
        }
    }

    @Override
    protected Logger getLogger() {
        return LOG;
    }
}
