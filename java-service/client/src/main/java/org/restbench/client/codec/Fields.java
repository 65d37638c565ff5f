package org.restbench.client.codec;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.ServiceRefused;

/**
 * The members of a JSON object or the child elements of an XML element, as texts by name. An array, or elements of the
 * same name, are several texts.
 */
final class Fields {
    private final Map<String, List<String>> texts = new HashMap<>();

    void add(String name, String text) {
        texts.computeIfAbsent(name, any -> new ArrayList<>()).add(text);
    }

    List<String> all(String name) {
        return texts.getOrDefault(name, List.of());
    }

    /** @throws MalformedAnswer where there is not exactly one text of this name */
    String one(String name) {
        require(all(name).size() == 1, "an answer without one " + name);
        return all(name).get(0);
    }

    boolean isTrue(String name) {
        require(one(name).matches("true|false|1|0"), name + " is not a boolean");
        return one(name).equals("true") || one(name).equals("1");
    }

    double number(String name) {
        one(name);
        return numbers(name).get(0);
    }

    /** @throws MalformedAnswer where there is no text of this name, or one is no number */
    List<Double> numbers(String name) {
        require(!all(name).isEmpty(), "an answer without " + name);
        try {
            return all(name).stream().map(Double::valueOf).toList();
        } catch (NumberFormatException malformed) {
            throw new MalformedAnswer(name + " is no number", malformed);
        }
    }

    /**
     * Returns the fields of an answer of status 200.
     *
     * @throws ServiceRefused for another status: the error that has these members
     * @throws MalformedAnswer where they are not those of an error
     */
    Fields unlessRefused(int status) throws ServiceRefused {
        if (status == 200) {
            return this;
        }
        require(one("errorCode").matches("[0-9]{3}"), "a code that is not of three digits");
        var ids = all("requestId").stream().filter(text -> !text.isEmpty());
        throw new ServiceRefused(
                status, one("errorCode"), one("errorMessage"), ids.findFirst().orElse(null));
    }

    static void require(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new MalformedAnswer(otherwise, null);
        }
    }
}
