package org.restbench.client.codec;

import java.util.ArrayList;
import java.util.List;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Kernels of NPB in JSON. */
public final class NpbJson implements Codec<NpbInput, NpbResult> {
    @Override
    public byte[] encode(NpbInput input, Loop loop) {
        return Json.write(json -> {
            json.writeStringProperty("requestId", input.requestId());
            json.writeStringProperty("class", input.npbClass());
            if (input.generate() != null) {
                json.writeBooleanProperty("generate", input.generate());
            }
        });
    }

    @Override
    public NpbResult decode(Answer answer, Loop loop) throws ServiceRefused {
        return Json.read(answer, NpbJson::result);
    }

    private static NpbResult result(JsonParser json) {
        NpbFields fields = new NpbFields();
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = json.currentName();
            JsonToken token = json.nextToken();
            if (name.equals("value") || name.equals("reference")) {
                numbers(json, name.equals("value") ? fields.value : fields.reference);
            } else if (token.isScalarValue()) {
                fields.set(name, json.getValueAsString());
            } else {
                json.skipChildren();
            }
        }
        return fields.result();
    }

    /** A number, or pairs of real and imaginary part. */
    private static void numbers(JsonParser json, List<Double> into) {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            into.add(Json.number(json));
            return;
        }
        List<Double> all = new ArrayList<>();
        while (json.nextToken() == JsonToken.START_ARRAY) {
            json.nextToken();
            all.add(Json.number(json));
            json.nextToken();
            all.add(Json.number(json));
            Json.require(json.nextToken() == JsonToken.END_ARRAY, "a pair of more than two");
        }
        Json.require(json.currentToken() == JsonToken.END_ARRAY, "no array of pairs");
        into.addAll(all);
    }
}
