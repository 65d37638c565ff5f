package org.restbench.json;

/** Thrown where a text stops being JSON. Carries no stack trace: it is an answer to the client, not a fault of ours. */
public final class MalformedJson extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param what what is wrong, without any of the text
     * @param offsetBytes where, from the start of the text
     */
    MalformedJson(String what, int offsetBytes) {
        super(what + " at byte " + offsetBytes, null, false, false);
    }
}
