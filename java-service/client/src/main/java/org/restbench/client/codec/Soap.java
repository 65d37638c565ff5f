package org.restbench.client.codec;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.namespace.QName;
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
     * The elements within the first parent of a name.
     *
     * @throws ServiceRefused where the answer is a fault with the contract's detail
     * @throws MalformedAnswer where it is neither that nor an envelope with the parent
     */
    static Fields read(Answer answer, String namespace, String parent) throws ServiceRefused {
        Map<QName, Fields> parents;
        try {
            parents = walk(INPUT.createXMLStreamReader(utf8(answer.body())));
        } catch (XMLStreamException | RuntimeException malformed) { // the JDK's parser throws of both
            throw malformed instanceof MalformedAnswer own
                    ? own
                    : new MalformedAnswer("the answer is not the contract's XML", malformed);
        }
        Fields fault = parents.get(new QName(namespace, "requestFault"));
        if (fault != null) {
            throw fault.refusal(answer.status());
        }
        Fields found = parents.get(new QName(namespace, parent));
        Fields.require(found != null && answer.status() == 200, "an envelope without " + parent);
        return found;
    }

    /** The contract's encoding, strictly; given bytes, the JDK's parser prints about wrong ones. */
    private static Reader utf8(byte[] body) {
        return new InputStreamReader(new ByteArrayInputStream(body), StandardCharsets.UTF_8.newDecoder());
    }

    /** The texts of all elements, by their names and under the names of their parents. */
    private static Map<QName, Fields> walk(XMLStreamReader xml) throws XMLStreamException {
        Map<QName, Fields> parents = new HashMap<>();
        Deque<Fields> path = new ArrayDeque<>(List.of(new Fields()));
        StringBuilder text = new StringBuilder();
        while (xml.hasNext()) {
            switch (xml.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    requirePlace(xml, path.size() - 1);
                    path.push(parents.computeIfAbsent(xml.getName(), any -> new Fields()));
                    text.setLength(0);
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    path.pop();
                    path.element().add(xml.getLocalName(), text.toString());
                    text.setLength(0);
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA, XMLStreamConstants.SPACE ->
                    text.append(xml.getTextCharacters(), xml.getTextStart(), xml.getTextLength());
                case XMLStreamConstants.DTD, XMLStreamConstants.ENTITY_REFERENCE ->
                    throw new MalformedAnswer("a DTD or an entity", null);
                default -> {}
            }
        }
        return parents;
    }

    private static void requirePlace(XMLStreamReader xml, int depth) {
        Fields.require(depth < DEEPEST, "too deep");
        if (depth <= 1) {
            boolean isBodyOrHeader =
                    xml.getLocalName().equals("Body") || xml.getLocalName().equals("Header");
            boolean isRight = depth == 0 ? xml.getLocalName().equals("Envelope") : isBodyOrHeader;
            Fields.require(isRight && ENVELOPE.equals(xml.getNamespaceURI()), "no SOAP 1.1 envelope");
        }
    }
}
