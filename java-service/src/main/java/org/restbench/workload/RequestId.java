package org.restbench.workload;

/**
 * The id a client gave its request.
 *
 * @param text the string, or the number's decimal digits
 * @param number whether it was a number
 */
public record RequestId(String text, boolean number) {}
