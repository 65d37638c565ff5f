package org.restbench.workload;

/**
 * The id that a client gave to its request.
 *
 * @param text the string, or the number's decimal digits
 * @param number whether the id is a number in the request, and not a string
 */
public record RequestId(String text, boolean number) {}
