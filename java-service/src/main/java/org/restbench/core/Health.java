package org.restbench.core;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;

/**
 * Says that the service is ready, and on what it runs.
 *
 * @param framework the name it was chosen by
 * @param server name and version of what parses HTTP
 * @param workers processes that serve
 * @param handoff where a framework of an event loop runs requests, else null
 * @param runtime the JVM's name and version
 * @param collectors the JVM's garbage collectors, e.g. {@code G1 Young Generation}
 * @param cores that the process may run on
 * @param settings what the service was started with, nothing secret
 * @param adaptive what the strategy of this name decides by now
 * @param database whether it answers, as {@code up}; null, and not shown, where the service has none
 */
public record Health(
        String status,
        String service,
        String framework,
        String server,
        int workers,
        String handoff,
        String version,
        String runtime,
        List<String> collectors,
        List<Integer> cores,
        Map<String, Object> settings,
        Map<String, Object> adaptive,
        @JsonInclude(JsonInclude.Include.NON_NULL) Map<String, Boolean> database) {}
