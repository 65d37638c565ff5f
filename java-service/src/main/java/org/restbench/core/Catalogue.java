package org.restbench.core;

import io.micrometer.core.instrument.Counter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Workloads;
import org.restbench.execution.Technique;

/** Every workload under every strategy that takes it, and the list of them that clients read. */
public final class Catalogue {
    private final Map<String, Route> routes = new LinkedHashMap<>();
    private final Offers offers;

    record Offers(String service, List<Offer> strategies) {}

    record Offer(String name, String key, String description, List<String> workloads) {}

    /** One workload under one strategy: what a path of the compute route stands for. */
    static final class Route {
        private final CodedWorkload<?, ?> workload;
        private final Technique technique;
        private final Metrics metrics;
        private final Map<Integer, Counter> answered = new ConcurrentHashMap<>();

        private Route(CodedWorkload<?, ?> workload, Technique technique, Metrics metrics) {
            this.workload = workload;
            this.technique = technique;
            this.metrics = metrics;
        }

        CodedWorkload<?, ?> workload() {
            return workload;
        }

        Technique technique() {
            return technique;
        }

        /** Counts an answer. */
        Reply counted(Reply reply) {
            answered.computeIfAbsent(
                            reply.status(), status -> metrics.answered(workload.name(), technique.name(), status))
                    .increment();
            return reply;
        }
    }

    public Catalogue(Workloads workloads, List<Technique> techniques, Metrics metrics) {
        offers = new Offers(
                "java",
                techniques.stream()
                        .map(it -> new Offer(it.name(), it.key(), it.description(), takenBy(it, workloads)))
                        .toList());
        for (CodedWorkload<?, ?> workload : workloads.byName().values()) {
            for (Technique technique : techniques) {
                if (technique.takes(workload.workload())) {
                    String path = "/" + workload.name() + "/" + technique.name();
                    routes.put(path, new Route(workload, technique, metrics));
                }
            }
        }
    }

    private static List<String> takenBy(Technique technique, Workloads workloads) {
        return workloads.byName().values().stream()
                .filter(each -> technique.takes(each.workload()))
                .map(CodedWorkload::name)
                .toList();
    }

    /** Null where there is none. A path is exact: an escaped or a parametrised one is another. */
    Route find(String rawPath) {
        return routes.get(rawPath);
    }

    Offers offers() {
        return offers;
    }
}
