package org.restbench.client.codec;

/**
 * A kernel of the NAS Parallel Benchmarks to be run.
 *
 * @param kernel IS, CG, MG or FT; in JSON it is in the URL, and may be null
 * @param npbClass S, W, A or B and what else the service has
 * @param generate whether its input is made anew; null leaves it to the service
 */
public record NpbInput(String requestId, String kernel, String npbClass, Boolean generate) {}
