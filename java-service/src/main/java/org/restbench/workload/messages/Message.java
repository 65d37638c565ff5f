package org.restbench.workload.messages;

/**
 * A message in a queue.
 *
 * @param receiver null for nobody in particular
 * @param sentAt in µs since 1970
 */
public record Message(long id, long sender, Long receiver, String body, long sentAt) {}
