package org.restbench.web;

import java.util.List;
import java.util.Map;
import org.restbench.affinity.CoreAffinity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Says that the service is ready, and on what it runs. */
@RestController
public final class HealthController {
    private final String version;
    private final CoreAffinity affinity;
    private final Map<String, Object> settings;

    record Health(
            String status,
            String service,
            String version,
            String runtime,
            List<Integer> cores,
            Map<String, Object> settings) {}

    /** @param settings what the service was started with, nothing secret */
    public HealthController(String version, CoreAffinity affinity, Map<String, Object> settings) {
        this.version = version;
        this.affinity = affinity;
        this.settings = settings;
    }

    @GetMapping("/health")
    Health health() {
        List<Integer> cores = affinity.coresOfProcess().stream().boxed().toList();
        return new Health("ok", "java", version, runtime(), cores, settings);
    }

    private static String runtime() {
        return System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version");
    }
}
