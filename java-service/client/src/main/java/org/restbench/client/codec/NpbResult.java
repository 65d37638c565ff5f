package org.restbench.client.codec;

import java.util.List;
import java.util.Map;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;

/**
 * What a kernel of the NAS Parallel Benchmarks computed.
 *
 * @param value its checks passed (IS), its number (CG, MG), or real and imaginary parts in turn (FT)
 * @param reference NPB's, in the same form
 * @param kernelSeconds as NPB times a kernel
 * @param totalSeconds with the generation of the input
 * @param mops millions of operations a second
 */
public record NpbResult(
        String requestId,
        String kernel,
        String npbClass,
        boolean verified,
        List<Double> value,
        List<Double> reference,
        long iterations,
        double kernelSeconds,
        double totalSeconds,
        double mops) {
    private static final String NAMESPACE = "urn:restbench:npb";

    /** The input's kernel is in the URL. */
    public static final Codec<Input, NpbResult> JSON = new Codec<>() {
        @Override
        public byte[] encode(Input input, Loop loop) {
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
            return of(Json.read(answer, Map.of()));
        }
    };

    /** Refuses an input without a kernel. */
    public static final Codec<Input, NpbResult> SOAP = new Codec<>() {
        @Override
        public byte[] encode(Input input, Loop loop) {
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
            return of(Soap.read(answer, NAMESPACE, "result"));
        }
    };

    /**
     * A kernel to be run.
     *
     * @param kernel IS, CG, MG or FT; null for JSON
     * @param npbClass S, W, A or B and what else the service has
     * @param generate whether its input is made anew; null leaves it to the service
     */
    public record Input(String requestId, String kernel, String npbClass, Boolean generate) {}

    private static NpbResult of(Fields fields) {
        return new NpbResult(
                fields.one("requestId"),
                fields.one("kernel"),
                fields.one("class"),
                fields.isTrue("verified"),
                fields.numbers("value"),
                fields.numbers("reference"),
                (long) fields.number("iterations"),
                fields.number("kernelSeconds"),
                fields.number("totalSeconds"),
                fields.number("mops"));
    }
}
