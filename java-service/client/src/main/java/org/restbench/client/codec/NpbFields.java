package org.restbench.client.codec;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The members of a kernel's result by name, as they are found in JSON or XML. */
final class NpbFields {
    final List<Double> value = new ArrayList<>();
    final List<Double> reference = new ArrayList<>();
    private final Map<String, String> texts = new HashMap<>();

    void set(String name, String text) {
        switch (name) {
            case "value" -> value.add(number(text));
            case "reference" -> reference.add(number(text));
            default -> texts.put(name, text);
        }
    }

    /** @throws org.restbench.client.MalformedAnswer where a member is missing or of another form */
    NpbResult result() {
        Json.require(!value.isEmpty() && !reference.isEmpty(), "a result without value or reference");
        String verified = text("verified");
        Json.require(verified.matches("true|false|1|0"), "verified is not a boolean");
        return new NpbResult(
                text("requestId"),
                text("kernel"),
                text("class"),
                verified.equals("true") || verified.equals("1"),
                List.copyOf(value),
                List.copyOf(reference),
                (long) number(text("iterations")),
                number(text("kernelSeconds")),
                number(text("totalSeconds")),
                number(text("mops")));
    }

    private String text(String name) {
        String text = texts.get(name);
        Json.require(text != null, "a result without " + name);
        return text;
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException malformed) {
            throw new org.restbench.client.MalformedAnswer("no number", malformed);
        }
    }
}
