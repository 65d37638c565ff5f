package org.restbench.client.codec;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiConsumer;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.XMLStreamWriter;
import org.restbench.client.Answer;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.ServiceRefused;

/** What all SOAP 1.1 messages share: the envelope, faults, and a reader without entities and DTDs. */
final class Soap {
    private static final String ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/";
    private static final int DEEPEST = 32;
    private static final XMLInputFactory INPUT = input();
    private static final XMLOutputFactory OUTPUT = XMLOutputFactory.newDefaultFactory();

    private Soap() {}

    /** Writes the elements within the payload. */
    interface Content {
        void write(XMLStreamWriter xml) throws XMLStreamException;
    }

    private static XMLInputFactory input() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, true);
        return factory;
    }

    /** An envelope round one element of a namespace, which is the default within. */
    static byte[] write(String namespace, String payload, Content content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            XMLStreamWriter xml = OUTPUT.createXMLStreamWriter(bytes, "UTF-8");
            xml.writeStartDocument("UTF-8", "1.0");
            xml.writeStartElement("e", "Envelope", ENVELOPE);
            xml.writeNamespace("e", ENVELOPE);
            xml.writeStartElement("e", "Body", ENVELOPE);
            xml.writeStartElement(payload);
            xml.writeDefaultNamespace(namespace);
            content.write(xml);
            xml.writeEndDocument();
            xml.close();
        } catch (XMLStreamException impossible) {
            throw new IllegalStateException("a message that is no XML", impossible);
        }
        return bytes.toByteArray();
    }

    static void element(XMLStreamWriter xml, String name, String text) throws XMLStreamException {
        xml.writeStartElement(name);
        xml.writeCharacters(text);
        xml.writeEndElement();
    }

    /**
     * Gives the elements within one parent, by name and text.
     *
     * @throws ServiceRefused where the answer is a fault with the contract's detail
     * @throws MalformedAnswer where it is neither that nor an envelope with the parent
     */
    static void read(Answer answer, String namespace, String parent, BiConsumer<String, String> element)
            throws ServiceRefused {
        String[] fault = new String[3];
        boolean isFound;
        try {
            XMLStreamReader xml = INPUT.createXMLStreamReader(utf8(answer.body()));
            isFound = walk(xml, namespace, parent, element, fault);
        } catch (XMLStreamException | RuntimeException malformed) { // the JDK's parser throws of both
            throw malformed instanceof MalformedAnswer own
                    ? own
                    : new MalformedAnswer("the answer is not the contract's XML", malformed);
        }
        if (fault[1] != null && fault[2] != null) {
            throw new ServiceRefused(answer.status(), fault[1], fault[2], fault[0]);
        }
        Json.require(isFound && answer.status() == 200, "an envelope without " + parent + " or a fault's detail");
    }

    /** The contract's encoding, strictly; given bytes, the JDK's parser prints about wrong ones. */
    private static Reader utf8(byte[] body) {
        return new InputStreamReader(new ByteArrayInputStream(body), StandardCharsets.UTF_8.newDecoder());
    }

    private static boolean walk(
            XMLStreamReader xml, String namespace, String parent, BiConsumer<String, String> element, String[] fault)
            throws XMLStreamException {
        Deque<String> path = new ArrayDeque<>();
        StringBuilder text = new StringBuilder();
        boolean isFound = false;
        while (xml.hasNext()) {
            switch (xml.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    requirePlace(xml, path.size());
                    path.push(xml.getLocalName());
                    isFound |= xml.getLocalName().equals(parent) && namespace.equals(xml.getNamespaceURI());
                    text.setLength(0);
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    path.pop();
                    String within = path.isEmpty() ? "" : path.peek();
                    if (within.equals(parent) && isFound) {
                        element.accept(xml.getLocalName(), text.toString());
                    } else if (within.equals("requestFault")) {
                        keep(fault, xml.getLocalName(), text.toString());
                    }
                    text.setLength(0);
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA, XMLStreamConstants.SPACE -> {
                    text.append(xml.getTextCharacters(), xml.getTextStart(), xml.getTextLength());
                }
                case XMLStreamConstants.DTD, XMLStreamConstants.ENTITY_REFERENCE ->
                    throw new MalformedAnswer("a DTD or an entity", null);
                default -> {}
            }
        }
        return isFound;
    }

    private static void requirePlace(XMLStreamReader xml, int depth) {
        Json.require(depth < DEEPEST, "too deep");
        if (depth <= 1) {
            boolean isBodyOrHeader =
                    xml.getLocalName().equals("Body") || xml.getLocalName().equals("Header");
            boolean isRight = depth == 0 ? xml.getLocalName().equals("Envelope") : isBodyOrHeader;
            Json.require(isRight && ENVELOPE.equals(xml.getNamespaceURI()), "no SOAP 1.1 envelope");
        }
    }

    private static void keep(String[] fault, String name, String text) {
        switch (name) {
            case "requestId" -> fault[0] = text.isEmpty() ? null : text;
            case "errorCode" -> fault[1] = text;
            case "errorMessage" -> fault[2] = text;
            default -> {}
        }
    }
}
