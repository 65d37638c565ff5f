package org.restbench.client;

/** Encodes an input as a message (stage S) and decodes an answer (stage D). Many threads use one codec at once. */
public interface Codec<I, O> {
    /** Encodes an input as the body of a request. Any exception makes this call fail in S. */
    byte[] encode(I input, Loop loop);

    /**
     * Decodes an answer.
     *
     * @throws ServiceRefused where the answer is an error of the service
     * @throws MalformedAnswer where the answer is neither a result nor an error of the service
     */
    O decode(Answer answer, Loop loop) throws ServiceRefused;
}
