package org.restbench.soap;

import jakarta.xml.bind.UnmarshalException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.logging.Logger;
import javax.xml.namespace.QName;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.cxf.Bus;
import org.apache.cxf.BusFactory;
import org.apache.cxf.common.logging.LogUtils;
import org.apache.cxf.endpoint.Server;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.message.Exchange;
import org.apache.cxf.message.ExchangeImpl;
import org.apache.cxf.message.Message;
import org.apache.cxf.message.MessageContentsList;
import org.apache.cxf.message.MessageImpl;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;
import org.apache.cxf.service.model.EndpointInfo;
import org.apache.cxf.transport.AbstractDestination;
import org.apache.cxf.transport.AbstractTransportFactory;
import org.apache.cxf.transport.Conduit;
import org.apache.cxf.transport.DestinationFactory;
import org.apache.cxf.ws.addressing.EndpointReferenceType;
import org.restbench.core.ErrorCode;
import org.restbench.core.Protocol.Call;
import org.restbench.core.Refusal;
import org.restbench.core.Reply;
import org.restbench.execution.ExecutionStrategy.StoppingException;
import org.restbench.execution.ExecutionStrategy.StrategyFault;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.soap.EnvelopeReader.EnvelopeFault;
import org.restbench.soap.Operation.Service;

/** A SOAP service by CXF, which reads, validates and writes XML; {@link SoapProtocol} writes faults. */
final class CxfEndpoint {
    private final Service service;
    private final ArrayDestination destination;

    CxfEndpoint(Service service) {
        this.service = service;
        Bus bus = BusFactory.newInstance().createBus();
        JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
        factory.setBus(bus);
        factory.setServiceClass(service.port());
        factory.setWsdlURL("contract/soap/" + service.name() + ".wsdl");
        factory.setServiceName(new QName(service.namespace(), service.serviceName()));
        factory.setEndpointName(new QName(service.namespace(), service.port().getSimpleName()));
        factory.setAddress("/soap/" + service.name());
        factory.setDestinationFactory(new ArrayDestination.Factory());
        factory.setInvoker(this::invoke);
        factory.setProperties(Map.of(Message.SCHEMA_VALIDATION_ENABLED, "IN"));
        Server server = factory.create();
        server.getEndpoint().getInInterceptors().add(new WholeEnvelope());
        server.getEndpoint().setOutFaultObserver(CxfEndpoint::noteFailure); // without CXF's chain that writes a fault
        destination = (ArrayDestination) server.getDestination();
    }

    /** Reads the body to its end before the operation runs. Fails where it is not exactly one envelope. */
    private static final class WholeEnvelope extends AbstractPhaseInterceptor<Message> {
        WholeEnvelope() {
            super(Phase.POST_UNMARSHAL);
        }

        @Override
        public void handleMessage(Message message) {
            if (callOf(message.getExchange()).reader.finish() != null) {
                throw new Fault(new IllegalArgumentException("not one envelope"));
            }
        }
    }

    private static SoapCall callOf(Exchange exchange) {
        return exchange.get(SoapCall.class);
    }

    private static void noteFailure(Message message) {
        callOf(message.getExchange()).fail(message.getContent(Exception.class));
    }

    private Object invoke(Exchange exchange, Object parts) {
        SoapCall call = callOf(exchange);
        Object message = ((List<?>) parts).get(0);
        return new MessageContentsList(call.run(service.operation().apply(message)));
    }

    /** Runs a request and returns the reply, which may be a fault. Never throws. */
    Reply answer(Call call) {
        if (!isOurAction(call.head().headers().apply("SOAPAction"))) {
            return refused(EnvelopeFault.ACTION);
        }
        SoapCall soap;
        try {
            EnvelopeFault tooMany = EnvelopeReader.tooManyElements(call.body());
            if (tooMany != null) {
                return refused(tooMany);
            }
            soap = new SoapCall(call);
        } catch (XMLStreamException malformed) {
            return refused(EnvelopeFault.MALFORMED);
        }
        try {
            destination.receive(soap);
        } catch (Throwable thrown) {
            soap.fail(thrown);
        }
        return soap.failure() == null ? soap.reply() : refused(soap);
    }

    private static boolean isOurAction(String action) {
        return action == null || action.isBlank() || action.strip().equals("\"\"");
    }

    private Reply refused(EnvelopeFault fault) {
        return SoapProtocol.fault(service, fault.code(), Refusal.of(fault.error(), fault.message(), null));
    }

    private Reply refused(SoapCall soap) {
        Throwable failure = soap.failure();
        if (!soap.isRead() && !isOurs(failure)) {
            String place = "line " + soap.reader.getLocation().getLineNumber() + ", column "
                    + soap.reader.getLocation().getColumnNumber();
            EnvelopeFault fault = soap.reader.finish();
            if (fault != null) {
                return refused(fault);
            }
            if (isForeseen(failure)) {
                return refused(Refusal.of(ErrorCode.MEMBER, place + ": does not fit the schema", null));
            }
        }
        return refused(Refusal.of(rootOf(failure), soap::id));
    }

    private Reply refused(Refusal refusal) {
        return SoapProtocol.refusal(service, refusal);
    }

    /** Whether a failure is one of the service, and not CXF's verdict on the XML. */
    private static boolean isOurs(Throwable failure) {
        return rootOf(failure) instanceof Error || rootOf(failure) instanceof MemoryRefused;
    }

    /** Whether CXF or JAXB reports that the message is wrong; anything else is a fault of the service. */
    private static boolean isForeseen(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof UnmarshalException) {
                return true;
            }
        }
        Throwable root = rootOf(failure);
        return root instanceof Fault || !(root instanceof RuntimeException);
    }

    private static boolean isKnown(Throwable thrown) {
        return thrown instanceof Error || thrown instanceof StoppingException || thrown instanceof StrategyFault;
    }

    /** The innermost of exceptions that wrap each other, or the outermost one that {@link Refusal} knows. */
    private static Throwable rootOf(Throwable thrown) {
        Throwable root = thrown;
        while (root.getCause() != null && !isKnown(root)) {
            root = root.getCause();
        }
        return root;
    }

    /** CXF's transport from and to memory: the web framework handles HTTP, and has read the whole body. */
    static final class ArrayDestination extends AbstractDestination {
        private static final Logger LOG = LogUtils.getL7dLogger(ArrayDestination.class);

        private ArrayDestination(Bus bus, EndpointInfo endpoint) {
            super(bus, new EndpointReferenceType(), endpoint);
        }

        static final class Factory extends AbstractTransportFactory implements DestinationFactory {
            /** The transport's id in the WSDL. */
            private static final String HTTP = "http://schemas.xmlsoap.org/soap/http";

            Factory() {
                super(List.of(HTTP));
            }

            @Override
            public ArrayDestination getDestination(EndpointInfo endpoint, Bus bus) {
                return new ArrayDestination(bus, endpoint);
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
            request.setContent(XMLStreamReader.class, call.reader);
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
                answer.setContent(OutputStream.class, callOf(answer.getExchange()).answer);
            }
        }

        @Override
        protected Logger getLogger() {
            return LOG;
        }
    }
}
