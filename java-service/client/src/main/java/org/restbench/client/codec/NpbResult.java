package org.restbench.client.codec;

import java.util.List;
import java.util.Map;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.ServiceRefused;

/**
 * The result of a kernel of the NAS Parallel Benchmarks (NPB).
 *
 * @param value the number of checks passed (IS), one number (CG, MG), or alternating real and imaginary parts (FT)
 * @param reference the value that NPB expects, in the same form
 * @param kernelSeconds time of the region that NPB times
 * @param totalSeconds time with the generation of the input and the verification
 * @param mops millions of operations per second, by NPB's formula
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

    /** The codec of REST. The URL names the kernel; a request body does not. */
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

    /** The codec of SOAP. Encoding throws IllegalArgumentException for an input without a kernel. */
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
     * A request to run a kernel.
     *
     * @param kernel IS, CG, MG or FT; null for JSON
     * @param npbClass NPB's problem size: S, W, A, B or any other that the service has
     * @param generate whether the service generates the kernel's input for this request; null for the service's default
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
