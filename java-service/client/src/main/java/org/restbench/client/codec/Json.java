package org.restbench.client.codec;

import java.io.ByteArrayOutputStream;
import java.util.Map;
import java.util.function.Consumer;
import org.restbench.client.Answer;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.ServiceRefused;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Reads and writes the parts that all JSON messages share. */
final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Json() {}

    /** The bytes of a JSON object; {@code members} writes its members. */
    static byte[] write(Consumer<JsonGenerator> members) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
            json.writeStartObject();
            members.accept(json);
            json.writeEndObject();
        }
        return bytes.toByteArray();
    }

    /**
     * Reads an answer with status 200. A member with a reader goes to that reader; the others are returned.
     *
     * @throws ServiceRefused where the status is another one and the body is an error of the contract
     * @throws MalformedAnswer where the body is neither
     */
    static Fields read(Answer answer, Map<String, Consumer<JsonParser>> readers) throws ServiceRefused {
        Fields fields = new Fields();
        try (JsonParser json = FACTORY.createParser(ObjectReadContext.empty(), answer.body())) {
            Fields.require(json.nextToken() == JsonToken.START_OBJECT, "no JSON object");
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = json.currentName();
                boolean isText = json.nextToken() == JsonToken.VALUE_STRING || json.hasToken(JsonToken.VALUE_NULL);
                Fields.require(isText || !name.equals("requestId"), "an id that is no string");
                readers.getOrDefault(name, any -> add(fields, name, json)).accept(json);
            }
            Fields.require(
                    json.currentToken() == JsonToken.END_OBJECT && json.nextToken() == null, "no single JSON object");
        } catch (JacksonException | IllegalArgumentException malformed) {
            throw new MalformedAnswer("the answer is not the contract's JSON", malformed);
        }
        return fields.unlessRefused(answer.status());
    }

    /** Adds a scalar as its text and an array as its elements. Objects and null are skipped. */
    private static void add(Fields fields, String name, JsonParser json) {
        if (json.hasToken(JsonToken.START_ARRAY)) {
            while (json.nextToken() != JsonToken.END_ARRAY) {
                add(fields, name, json);
            }
        } else if (json.currentToken().isScalarValue() && !json.hasToken(JsonToken.VALUE_NULL)) {
            fields.add(name, json.getValueAsString());
        } else {
            json.skipChildren();
        }
    }
}
