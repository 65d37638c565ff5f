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
        String[] error = object(answer.body(), Json::error);
        throw new ServiceRefused(answer.status(), error[1], error[2], error[0]);
    }

    private static <T> T object(byte[] body, Function<JsonParser, T> members) {
        try (JsonParser json = FACTORY.createParser(ObjectReadContext.empty(), body)) {
            require(json.nextToken() == JsonToken.START_OBJECT, "no JSON object");
            T read = members.apply(json);
            require(json.currentToken() == JsonToken.END_OBJECT && json.nextToken() == null, "no single JSON object");
            return read;
        } catch (JacksonException | IllegalArgumentException malformed) {
            throw new MalformedAnswer("the answer is not the contract's JSON", malformed);
        }
    }

    private static String[] error(JsonParser json) {
        String[] error = new String[3];
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = json.currentName();
            json.nextToken();
            switch (name) {
                case "requestId" -> error[0] = json.currentToken().isScalarValue() ? json.getValueAsString() : null;
                case "errorCode" -> error[1] = string(json);
                case "errorMessage" -> error[2] = string(json);
                default -> json.skipChildren();
            }
        }
        require(error[1] != null && error[2] != null, "an error without code or message");
        return error;
    }

    /** The text of the string that the parser is at. */
    static String string(JsonParser json) {
        require(json.currentToken() == JsonToken.VALUE_STRING, "no string");
        return json.getString();
    }

    static double number(JsonParser json) {
        require(json.currentToken().isNumeric(), "no number");
        return json.getDoubleValue();
    }

    static void require(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new MalformedAnswer(otherwise, null);
        }
    }
}
