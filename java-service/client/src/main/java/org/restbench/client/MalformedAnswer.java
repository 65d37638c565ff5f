package org.restbench.client;

/** The answer is neither a result nor an error of the contract. It keeps no part of the answer in memory but a text. */
public final class MalformedAnswer extends RuntimeException {
    /**
     * @param message what is wrong with the answer
     * @param cause the parser's exception, or null. Only the first 300 characters of its text are kept, in the message:
     *     the exception may refer to the parser, and so to the whole answer, or quote it
     */
    public MalformedAnswer(String message, Throwable cause) {
        super(cause == null ? message : "%s: %.300s".formatted(message, cause));
    }
}
