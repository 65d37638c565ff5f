package org.restbench.workload;

import java.util.Map;

/**
 * The table of workloads a service offers.
 *
 * @param byName by the name in their path
 */
public record Workloads(Map<String, WorkloadFactory> byName) {}
