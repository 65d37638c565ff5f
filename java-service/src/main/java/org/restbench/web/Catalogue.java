package org.restbench.web;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.restbench.codec.Workloads;
import org.restbench.execution.Technique;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Every workload under every technique, and the list of them that clients read. */
@RestController
public final class Catalogue {
    private final Map<String, Route> routes = new LinkedHashMap<>();
    private final Offers offers;

    record Offers(String service, List<Offer> strategies) {}

    record Offer(String name, String key, String description, List<String> workloads) {}

    public Catalogue(Workloads workloads, List<Technique> techniques) {
        offers = new Offers(
                "java",
                techniques.stream()
                        .map(it -> new Offer(it.name(), it.key(), it.description(), takenBy(it, workloads)))
                        .toList());
        workloads.byName().forEach((name, coded) -> techniques.stream()
                .filter(technique -> technique.takes(coded.workload()))
                .forEach(technique -> {
                    Route route = new Route(name, coded, technique);
                    routes.put(route.path(), route);
                }));
    }

    private static List<String> takenBy(Technique technique, Workloads workloads) {
        return workloads.byName().entrySet().stream()
                .filter(entry -> technique.takes(entry.getValue().workload()))
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * @param path as it was sent: a path is exact, so an escaped or a parametrised one is another path
     * @throws Refused 009
     */
    Route find(String path) {
        Route route = routes.get(path);
        if (route == null) {
            throw Refused.noSuchPath();
        }
        return route;
    }

    /** Every path of the compute route. */
    public Set<String> paths() {
        return routes.keySet();
    }

    @GetMapping("/strategies")
    Offers strategies() {
        return offers;
    }
}
