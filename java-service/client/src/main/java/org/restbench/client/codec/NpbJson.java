package org.restbench.client.codec;

import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;

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
        return NpbResult.of(Json.read(answer, Json::fields));
    }
}
