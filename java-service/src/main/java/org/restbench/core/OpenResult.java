package org.restbench.core;

/**
 * Result of {@link Core#open}: the reply, where the request's head suffices for it, or an exchange that takes the body.
 */
public sealed interface OpenResult permits Reply, Exchange {}
