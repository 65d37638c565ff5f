package org.restbench.client;

/** An answer that is neither a result nor an error of the contract. */
public final class MalformedAnswer extends RuntimeException {
    /** What is wrong, and what the parser said, or null. */
    public MalformedAnswer(String message, Throwable cause) {
        super(message, cause);
    }
}
