package org.restbench.client.codec;

import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;

/** Kernels of NPB in SOAP. */
public final class NpbSoap implements Codec<NpbInput, NpbResult> {
    private static final String NAMESPACE = "urn:restbench:npb";

    /** @throws IllegalArgumentException where the input names no kernel */
    @Override
    public byte[] encode(NpbInput input, Loop loop) {
        if (input.kernel() == null) {
            throw new IllegalArgumentException("kernel: a SOAP message names it");
        }
        return Soap.write(NAMESPACE, "run", xml -> {
            Soap.element(xml, "requestId", input.requestId());
            Soap.element(xml, "kernel", input.kernel());
            Soap.element(xml, "class", input.npbClass());
            if (input.generate() != null) {
                Soap.element(xml, "generate", input.generate().toString());
            }
        });
    }

    @Override
    public NpbResult decode(Answer answer, Loop loop) throws ServiceRefused {
        return NpbResult.of(Soap.read(answer, NAMESPACE, "result"));
    }
}
