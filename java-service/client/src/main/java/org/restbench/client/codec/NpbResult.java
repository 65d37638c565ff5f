package org.restbench.client.codec;

import java.util.List;

/**
 * What a kernel computed.
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
    /** @throws org.restbench.client.MalformedAnswer where a member is missing or of another form */
    static NpbResult of(Fields fields) {
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
