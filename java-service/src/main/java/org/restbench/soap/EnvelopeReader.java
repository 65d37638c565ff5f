package org.restbench.soap;

import com.ctc.wstx.api.WstxInputProperties;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.util.StreamReaderDelegate;
import org.apache.cxf.staxutils.StaxUtils;
import org.codehaus.stax2.XMLInputFactory2;
import org.restbench.core.ErrorCode;

/** Reads a body and checks what CXF does not: one well-formed envelope and payload, in UTF-8 and XML 1.0. */
final class EnvelopeReader extends StreamReaderDelegate {
    private static final String SOAP = "http://schemas.xmlsoap.org/soap/envelope/";
    private static final String NEXT_ACTOR = "http://schemas.xmlsoap.org/soap/actor/next";
    private static final int ENVELOPE = 1;
    private static final int PART = 2;
    private static final int ENTRY = 3;

    /** Largest number of elements of a body; each takes about a microsecond to validate. */
    private static final int MOST_ELEMENTS = 1 << 21;

    /** Most nodes in a header: CXF makes a document of it, of many times the bytes of its text. */
    private static final int MOST_HEADER_NODES = 10_000;

    /** Most different names: the parser compares a new name with all those of the same hash code. */
    private static final int MOST_NAMES = 1000;

    /** Most namespaces declared at once: the parser seeks each prefix among all of them. */
    private static final int MOST_NAMESPACES = 100;

    /** CXF's factory with all its limits but one, and without lazy parsing: malformed XML is found where it is read. */
    private static final XMLInputFactory FACTORY = factory();

    /** A fault after which reading cannot go on; null for none. */
    private EnvelopeFault fatal;

    private EnvelopeFault fault;
    private final Set<String> names = new HashSet<>();
    private int namespaces;
    private int elements;
    private int headerNodes;
    private int depth;
    private boolean inBody;
    private int parts;
    private int payloads;

    /** What is wrong with a body as a whole: the contract's code 002 or 007, and SOAP 1.1's fault code. */
    record EnvelopeFault(ErrorCode error, String code, String message) {
        static final EnvelopeFault MALFORMED =
                malformed("Client", "the body is not one well-formed XML 1.0 document in UTF-8");

        private static final EnvelopeFault VERSION =
                malformed("VersionMismatch", "the body is not an envelope of SOAP 1.1");

        private static final EnvelopeFault STRUCTURE =
                malformed("Client", "the body is not an envelope with at most one header and one payload");

        private static final EnvelopeFault HEADER =
                malformed("MustUnderstand", "the envelope has a header that must be understood and is not");

        static final EnvelopeFault ACTION = malformed("Client", "SOAPAction must be missing or empty");

        private static final EnvelopeFault TOO_LARGE = new EnvelopeFault(
                ErrorCode.TOO_LARGE,
                "Client",
                "the envelope has more than " + MOST_ELEMENTS + " elements, " + MOST_HEADER_NODES
                        + " nodes in its header, " + MOST_NAMES + " different names, or " + MOST_NAMESPACES
                        + " namespaces at once");

        private static EnvelopeFault malformed(String code, String message) {
            return new EnvelopeFault(ErrorCode.MALFORMED, code, message);
        }
    }

    private EnvelopeReader(XMLStreamReader reader) {
        super(reader);
        String encoding = reader.getCharacterEncodingScheme();
        boolean right = (reader.getVersion() == null || reader.getVersion().equals("1.0"))
                && (encoding == null || encoding.equalsIgnoreCase(StandardCharsets.UTF_8.name()));
        fatal = right ? null : EnvelopeFault.MALFORMED;
    }

    private static XMLInputFactory factory() {
        XMLInputFactory factory = StaxUtils.createXMLInputFactory(true);
        factory.setProperty(XMLInputFactory2.P_LAZY_PARSING, false);
        factory.setProperty(XMLInputFactory2.P_INTERN_NAMES, true); // else JAXB interns them, at each tag anew
        factory.setProperty(XMLInputFactory2.P_INTERN_NS_URIS, true);
        factory.setProperty(WstxInputProperties.P_MAX_CHILDREN_PER_ELEMENT, Integer.MAX_VALUE); // rows of a matrix
        return factory;
    }

    /** @throws XMLStreamException where the body does not begin as XML */
    static EnvelopeReader of(byte[] body) throws XMLStreamException {
        return new EnvelopeReader(
                FACTORY.createXMLStreamReader(new ByteArrayInputStream(body), StandardCharsets.UTF_8.name()));
    }

    /**
     * Checks a body that has enough opening tags to exceed the limit of elements. Reading alone takes a fraction of the
     * time that CXF needs to make objects of elements up to the limit. Returns what is wrong; null for nothing, or
     * where the body has fewer tags. Comments and the like may contain text that counts as a tag, but no tag is missed.
     */
    static EnvelopeFault tooManyElements(byte[] body) throws XMLStreamException {
        int begins = 0;
        for (int i = 1; i < body.length; i++) {
            begins += body[i - 1] == '<' && body[i] != '/' ? 1 : 0;
        }
        return begins > MOST_ELEMENTS ? of(body).finish() : null;
    }

    /** Reads to the end of the body and returns what is wrong with it; null for nothing. */
    EnvelopeFault finish() {
        try {
            while (fatal == null && getEventType() != END_DOCUMENT) {
                next();
            }
        } catch (XMLStreamException found) {
            return fatal;
        }
        if (fatal != null) {
            return fatal;
        }
        if (fault == null && payloads != 1) {
            return EnvelopeFault.STRUCTURE;
        }
        return fault;
    }

    @Override
    public int next() throws XMLStreamException {
        int event;
        try {
            event = super.next();
        } catch (XMLStreamException found) {
            fatal = EnvelopeFault.MALFORMED;
            throw found;
        }
        see(event);
        count(event);
        return event;
    }

    @Override
    public int nextTag() throws XMLStreamException {
        int event = next();
        while (event == SPACE
                || event == COMMENT
                || event == PROCESSING_INSTRUCTION
                || (event == CHARACTERS || event == CDATA) && isWhiteSpace()) {
            event = next();
        }
        if (event != START_ELEMENT && event != END_ELEMENT) {
            throw new XMLStreamException("expected a tag", getLocation());
        }
        return event;
    }

    private void count(int event) throws XMLStreamException {
        if (!inBody && depth > ENVELOPE) {
            headerNodes += event == START_ELEMENT ? 1 + getAttributeCount() + getNamespaceCount() : 1;
        }
        switch (event) {
            case START_ELEMENT -> countElement();
            case END_ELEMENT -> namespaces -= getNamespaceCount();
            case PROCESSING_INSTRUCTION -> names.add(getPITarget());
            default -> {}
        }
        if (elements > MOST_ELEMENTS
                || headerNodes > MOST_HEADER_NODES
                || names.size() > MOST_NAMES
                || namespaces > MOST_NAMESPACES) {
            fatal = EnvelopeFault.TOO_LARGE;
            throw new XMLStreamException(fatal.message(), getLocation());
        }
    }

    private void countElement() {
        elements++;
        names.add(getLocalName());
        for (int i = 0; i < getAttributeCount(); i++) {
            names.add(getAttributeLocalName(i));
        }
        for (int i = 0; i < getNamespaceCount(); i++) {
            names.add(getNamespacePrefix(i));
        }
        namespaces += getNamespaceCount();
    }

    private void see(int event) {
        switch (event) {
            case START_ELEMENT -> start(++depth);
            case END_ELEMENT -> depth--;
            case CHARACTERS, CDATA -> {
                if (depth <= PART && !(event == CHARACTERS && isWhiteSpace())) {
                    note(EnvelopeFault.STRUCTURE);
                }
            }
            case DTD, ENTITY_REFERENCE -> fatal = EnvelopeFault.MALFORMED; // an entity that XML does not predefine
            default -> {}
        }
    }

    private void start(int level) {
        if (level == ENVELOPE && !is("Envelope")) {
            note(getLocalName().equals("Envelope") ? EnvelopeFault.VERSION : EnvelopeFault.STRUCTURE);
        } else if (level == PART) {
            boolean right = !inBody && (is("Body") || is("Header") && parts == 0);
            inBody |= is("Body");
            parts++;
            if (!right) {
                note(EnvelopeFault.STRUCTURE);
            }
        } else if (level == ENTRY && inBody) {
            payloads++;
            if (payloads > 1) {
                note(EnvelopeFault.STRUCTURE);
            }
        } else if (level == ENTRY && mustBeUnderstood()) {
            note(EnvelopeFault.HEADER);
        }
    }

    private boolean is(String name) {
        return name.equals(getLocalName()) && SOAP.equals(getNamespaceURI());
    }

    private boolean mustBeUnderstood() {
        String must = getAttributeValue(SOAP, "mustUnderstand");
        String actor = getAttributeValue(SOAP, "actor");
        boolean isForUs = actor == null || actor.isEmpty() || actor.equals(NEXT_ACTOR);
        return isForUs
                && must != null
                && (must.strip().equals("1") || must.strip().equals("true"));
    }

    /** Keeps the first fault. A fault of the structure replaces one of a header. */
    private void note(EnvelopeFault found) {
        if (fault == null || fault == EnvelopeFault.HEADER) {
            fault = found;
        }
    }
}
