package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * An answer in SOAP as the JSON that says the same, for one form of example.
 *
 * @param faultCode empty where it is no fault
 */
record SoapAnswer(String faultCode, ObjectNode members) {
    private static final String XSI = "http://www.w3.org/2001/XMLSchema-instance";

    static SoapAnswer parse(String xml) {
        Element payload = child(child(document(xml), 0), 0);
        if (!payload.getLocalName().equals("Fault")) {
            return new SoapAnswer("", members(child(payload, 0)));
        }
        assertThat(payload.getChildNodes().getLength()).isEqualTo(3);
        ObjectNode members = members(child(child(payload, 2), 0));
        assertThat(child(payload, 1).getTextContent())
                .isEqualTo(members.get("errorMessage").asString());
        return new SoapAnswer(child(payload, 0).getTextContent().replaceFirst(".*:", ""), members);
    }

    private static Element document(String xml) {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
            factory.setNamespaceAware(true);
            return factory.newDocumentBuilder()
                    .parse(new InputSource(new StringReader(xml)))
                    .getDocumentElement();
        } catch (Exception malformed) {
            throw new AssertionError(xml, malformed);
        }
    }

    private static Element child(Node of, int index) {
        return (Element) of.getChildNodes().item(index);
    }

    private static ObjectNode members(Element of) {
        ObjectNode members = JsonNodeFactory.instance.objectNode();
        for (int i = 0; i < of.getChildNodes().getLength(); i++) {
            Element member = child(of, i);
            String name = member.getLocalName();
            String text = member.getTextContent();
            switch (name) {
                case "row" -> list(members, name).add(text);
                case "value", "reference" -> list(members, name).add(Double.parseDouble(text));
                case "verified" -> members.put(name, Boolean.parseBoolean(text));
                case "iterations" -> members.put(name, Integer.parseInt(text));
                case "kernelSeconds", "totalSeconds", "mops" -> members.put(name, Double.parseDouble(text));
                default -> members.put(name, member.getAttributeNS(XSI, "nil").equals("true") ? null : text);
            }
        }
        return members;
    }

    private static ArrayNode list(ObjectNode members, String name) {
        JsonNode list = members.get(name);
        return list == null ? members.putArray(name) : (ArrayNode) list;
    }
}
