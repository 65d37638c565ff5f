package org.restbench.client.codec;

import java.util.Map;
import java.util.stream.LongStream;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.ServiceRefused;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** The product of two matrices, with the id of its request. */
public record MatrixProduct(String requestId, Matrix rows) {
    private static final String NAMESPACE = "urn:restbench:matrix";

    /** The codec of REST. The loop formats the rows of a request; an answer is one stream, which one thread reads. */
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
            Matrix[] rows = new Matrix[1];
            Fields product = Json.read(answer, Map.of("rows", json -> rows[0] = readRows(json)));
            Fields.require(rows[0] != null, "a product without rows");
            return new MatrixProduct(product.one("requestId"), rows[0]);
        }
    };

    /** The codec of SOAP. The loop formats and parses the rows; one thread writes and reads the XML around them. */
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
            Fields product = Soap.read(answer, NAMESPACE, "product");
            try {
                return new MatrixProduct(product.one("requestId"), Matrix.parse(product.all("row"), loop));
            } catch (IllegalArgumentException malformed) {
                throw new MalformedAnswer("a row that is no integers", malformed);
            }
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

    private static Matrix readRows(JsonParser json) {
        Fields.require(json.hasToken(JsonToken.START_ARRAY), "rows are no array");
        LongStream.Builder values = LongStream.builder();
        int count = 0;
        int columns = 0;
        while (json.nextToken() == JsonToken.START_ARRAY) {
            int from = count;
            while (json.nextToken() == JsonToken.VALUE_NUMBER_INT) {
                values.add(json.getLongValue());
                count++;
            }
            columns = from == 0 ? count : columns;
            Fields.require(json.hasToken(JsonToken.END_ARRAY) && count - from == columns, "a row of another form");
        }
        Fields.require(json.hasToken(JsonToken.END_ARRAY), "rows are no array of arrays");
        return new Matrix(columns, values.build().toArray());
    }
}
