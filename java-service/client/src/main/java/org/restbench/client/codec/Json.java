package org.restbench.client.codec;

import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;
import java.util.function.Function;
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

/** What all messages in JSON share. */
final class Json {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final int OK = 200;

    private Json() {}

    /** The bytes of an object whose members are written by an action. */
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
     * What a function reads from an answer with status 200; it begins behind the opening brace and ends at the closing
     * one.
     *
     * @throws ServiceRefused where the answer is an error
     * @throws MalformedAnswer where it is neither
     */
    static <T> T read(Answer answer, Function<JsonParser, T> result) throws ServiceRefused {
        if (answer.status() == OK) {
            return object(answer.body(), result);
        }
        throw object(answer.body(), Json::fields).refusal(answer.status());
    }

    private static <T> T object(byte[] body, Function<JsonParser, T> members) {
        try (JsonParser json = FACTORY.createParser(ObjectReadContext.empty(), body)) {
            Fields.require(json.nextToken() == JsonToken.START_OBJECT, "no JSON object");
            T read = members.apply(json);
            Fields.require(
                    json.currentToken() == JsonToken.END_OBJECT && json.nextToken() == null, "no single JSON object");
            return read;
        } catch (JacksonException | IllegalArgumentException malformed) {
            throw new MalformedAnswer("the answer is not the contract's JSON", malformed);
        }
    }

    /** All scalars of the object that the parser is in, but of objects within. */
    static Fields fields(JsonParser json) {
        Fields fields = new Fields();
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = json.currentName();
            json.nextToken();
            add(fields, name, json);
        }
        return fields;
    }

    private static void add(Fields fields, String name, JsonParser json) {
        if (json.currentToken() == JsonToken.START_ARRAY) {
            while (json.nextToken() != JsonToken.END_ARRAY) {
                add(fields, name, json);
            }
        } else if (json.currentToken().isScalarValue() && json.currentToken() != JsonToken.VALUE_NULL) {
            fields.add(name, json.getValueAsString());
        } else {
            json.skipChildren();
        }
    }
}
