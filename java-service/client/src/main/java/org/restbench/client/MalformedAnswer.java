package org.restbench.client;

/** The answer is neither a result nor an error of the contract. */
public final class MalformedAnswer extends RuntimeException {
    /**
     * @param message what is wrong with the answer
     * @param cause the parser's exception, or null
     */
    public MalformedAnswer(String message, Throwable cause) {
        super(message, cause);
    }
}
