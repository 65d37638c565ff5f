package org.restbench.client.codec;

import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.ServiceRefused;
import tools.jackson.core.JsonGenerator;

/** A product, with the id of the request that asked for it. */
public record MatrixProduct(String requestId, Matrix rows) {
    private static final String NAMESPACE = "urn:restbench:matrix";

    /** The loop makes and reads the texts of the rows; one thread writes and reads the JSON round them. */
    public static final Codec<Input, MatrixProduct> JSON = new Codec<>() {
        @Override
        public byte[] encode(Input input, Loop loop) {
            return Json.write(json -> {
                json.writeStringProperty("requestId", input.requestId());
                write(json, "matrixOne", input.one(), loop);
                write(json, "matrixTwo", input.two(), loop);
            });
        }

        @Override
        public MatrixProduct decode(Answer answer, Loop loop) throws ServiceRefused {
            return of(Json.read(answer), "rows[]", loop);
        }
    };

    /** As in JSON. */
    public static final Codec<Input, MatrixProduct> SOAP = new Codec<>() {
        @Override
        public byte[] encode(Input input, Loop loop) {
            return Soap.write(NAMESPACE, "multiply", xml -> {
                Soap.element(xml, "requestId", input.requestId());
                write(xml, "matrixOne", input.one(), loop);
                write(xml, "matrixTwo", input.two(), loop);
            });
        }

        @Override
        public MatrixProduct decode(Answer answer, Loop loop) throws ServiceRefused {
            return of(Soap.read(answer, NAMESPACE, "product"), "row", loop);
        }
    };

    /** Two matrices to be multiplied. */
    public record Input(String requestId, Matrix one, Matrix two) {}

    private static void write(JsonGenerator json, String name, Matrix matrix, Loop loop) {
        json.writeObjectPropertyStart(name);
        json.writeNumberProperty("columnCount", matrix.columns());
        json.writeArrayPropertyStart("rows");
        for (String row : matrix.texts(loop)) {
            json.writeStartObject();
            json.writeStringProperty("value", row);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void write(XMLStreamWriter xml, String name, Matrix matrix, Loop loop) throws XMLStreamException {
        xml.writeStartElement(name);
        Soap.element(xml, "columnCount", Integer.toString(matrix.columns()));
        for (String row : matrix.texts(loop)) {
            Soap.element(xml, "row", row);
        }
        xml.writeEndElement();
    }

    private static MatrixProduct of(Fields fields, String row, Loop loop) {
        try {
            return new MatrixProduct(fields.one("requestId"), Matrix.parse(fields.all(row), loop));
        } catch (IllegalArgumentException malformed) {
            throw new MalformedAnswer("a row that is no integers", malformed);
        }
    }
}
