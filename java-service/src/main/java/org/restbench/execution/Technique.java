package org.restbench.execution;

/**
 * A strategy as it is offered.
 *
 * @param name the last part of the path
 * @param key the study's name for it, null where it has none
 * @param description one sentence
 */
public record Technique(String name, String key, String description, ExecutionStrategy strategy) {}
