package org.restbench.client.codec;

import java.util.Arrays;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Products in JSON. The loop makes the texts of the rows; an answer is one stream, which one thread reads. */
public final class MatrixJson implements Codec<MatrixInput, MatrixProduct> {
    private static final int FIRST = 256;

    @Override
    public byte[] encode(MatrixInput input, Loop loop) {
        return Json.write(json -> {
            json.writeStringProperty("requestId", input.requestId());
            write(json, "matrixOne", input.one(), loop);
            write(json, "matrixTwo", input.two(), loop);
        });
    }

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

    @Override
    public MatrixProduct decode(Answer answer, Loop loop) throws ServiceRefused {
        return Json.read(answer, MatrixJson::product);
    }

    private static MatrixProduct product(JsonParser json) {
        String id = null;
        Matrix rows = null;
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = json.currentName();
            json.nextToken();
            switch (name) {
                case "requestId" -> {
                    Fields.require(json.currentToken() == JsonToken.VALUE_STRING, "an id that is no string");
                    id = json.getString();
                }
                case "rows" -> rows = rows(json);
                default -> json.skipChildren();
            }
        }
        Fields.require(id != null && rows != null, "a product without id or rows");
        return new MatrixProduct(id, rows);
    }

    private static Matrix rows(JsonParser json) {
        Fields.require(json.currentToken() == JsonToken.START_ARRAY, "rows are no array");
        long[] values = new long[FIRST];
        int count = 0;
        int columns = 0;
        while (json.nextToken() == JsonToken.START_ARRAY) {
            int from = count;
            while (json.nextToken() == JsonToken.VALUE_NUMBER_INT) {
                values = count == values.length ? Arrays.copyOf(values, 2 * count) : values;
                values[count++] = json.getLongValue();
            }
            columns = from == 0 ? count : columns;
            boolean isRow = json.currentToken() == JsonToken.END_ARRAY && count - from == columns;
            Fields.require(isRow, "a row of another form");
        }
        Fields.require(json.currentToken() == JsonToken.END_ARRAY, "rows are no array of arrays");
        return new Matrix(columns, Arrays.copyOf(values, count));
    }
}
