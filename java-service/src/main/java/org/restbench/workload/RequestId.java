package org.restbench.workload;

/** The id that a client gave to its request: a string, or the decimal digits of a number. */
public record RequestId(String text, boolean number) {}
