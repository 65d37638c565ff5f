package org.restbench.client.codec;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.util.List;
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

/** Reads and writes the parts that all SOAP 1.1 messages share: envelope and faults. Refuses entities and DTDs. */
final class Soap {
    private static final String ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/";
    private static final XMLOutputFactory OUTPUT = XMLOutputFactory.newDefaultFactory();
    private static final XMLInputFactory INPUT = XMLInputFactory.newDefaultFactory();

    static {
        INPUT.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        INPUT.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    }

    private Soap() {}

    /** Writes the elements within the payload. */
    interface Content {
        void write(XMLStreamWriter xml) throws XMLStreamException;
    }

    /** The bytes of an envelope around one payload element, whose namespace is the default namespace inside it. */
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
     * The child elements of the one element named {@code parent}.
     *
     * @throws ServiceRefused where the answer is a fault of the contract
     * @throws MalformedAnswer where the answer is neither
     */
    static Fields read(Answer answer, String namespace, String parent) throws ServiceRefused {
        boolean isFault = answer.status() != 200;
        Fields found;
        try {
            // UTF-8 is the contract's; given invalid bytes, the JDK's parser itself would print messages about them
            Reader utf8 = new InputStreamReader(new ByteArrayInputStream(answer.body()), UTF_8.newDecoder());
            found = within(INPUT.createXMLStreamReader(utf8), new QName(namespace, isFault ? "requestFault" : parent));
        } catch (MalformedAnswer malformed) {
            throw malformed;
        } catch (XMLStreamException | RuntimeException malformed) { // the JDK's parser throws both
            throw new MalformedAnswer("the answer is not the contract's XML", malformed);
        }
        return found.unlessRefused(answer.status());
    }

    private static Fields within(XMLStreamReader xml, QName parent) throws XMLStreamException {
        Fields found = null;
        int depth = 0;
        while (xml.hasNext()) {
            switch (xml.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    requirePlace(xml, depth++);
                    if (xml.getName().equals(parent)) {
                        Fields.require(found == null, "an envelope with two of " + parent);
                        found = children(xml);
                        depth--;
                    }
                }
                case XMLStreamConstants.END_ELEMENT -> depth--;
                case XMLStreamConstants.DTD, XMLStreamConstants.ENTITY_REFERENCE ->
                    throw new MalformedAnswer("a DTD or an entity", null);
                default -> {}
            }
        }
        Fields.require(found != null, "an envelope without " + parent);
        return found;
    }

    private static void requirePlace(XMLStreamReader xml, int depth) {
        List<String> names = depth == 0 ? List.of("Envelope") : List.of("Header", "Body");
        boolean isOfSoap = ENVELOPE.equals(xml.getNamespaceURI()) && names.contains(xml.getLocalName());
        Fields.require(depth > 1 || isOfSoap, "no SOAP 1.1 envelope");
    }

    /** The texts of the children of the element that the reader has entered, and leaves. */
    private static Fields children(XMLStreamReader xml) throws XMLStreamException {
        Fields texts = new Fields();
        while (xml.nextTag() == XMLStreamConstants.START_ELEMENT) {
            texts.add(xml.getLocalName(), xml.getElementText());
        }
        return texts;
    }
}
