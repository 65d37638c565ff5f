package org.restbench.client;

/**
 * When a call was where, in nanoseconds since its batch began (-1: never), and how long its stages took in nanoseconds;
 * C is the sum of its attempts.
 *
 * @param sent begin of the last attempt
 */
public record StageTimes(long begun, long sent, long answered, long ended, long s, long c, long d, long p) {}
