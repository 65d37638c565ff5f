package org.restbench.core;

import io.micrometer.core.instrument.Counter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.restbench.execution.Technique;

/** Every workload under every strategy that takes it, and the list of them that clients read. */
public final class Catalogue {
    private final Map<String, Route> routes = new LinkedHashMap<>();
    private final List<Protocol> protocols;
    private final Offers offers;

    record Offers(String service, List<Offer> strategies) {}

    record Offer(String name, String key, String description, List<String> workloads) {}

    /** One workload in one protocol under one strategy: what a path of the compute route stands for. */
    static final class Route {
        private final Protocol protocol;
        private final Technique technique;
        private final Metrics metrics;
        private final Map<Integer, Counter> answered = new ConcurrentHashMap<>();

        private Route(Protocol protocol, Technique technique, Metrics metrics) {
            this.protocol = protocol;
            this.technique = technique;
            this.metrics = metrics;
        }

        Protocol protocol() {
            return protocol;
        }

        Technique technique() {
            return technique;
        }

        /** Counts an answer. */
        Reply counted(Reply reply) {
            answered.computeIfAbsent(
                            reply.status(), status -> metrics.answered(protocol.name(), technique.name(), status))
                    .increment();
            return reply;
        }

        Reply refused(Refusal refusal) {
            return counted(protocol.refusal(refusal));
        }
    }

    public Catalogue(List<Protocol> protocols, List<Technique> techniques, Metrics metrics) {
        this.protocols = protocols;
        offers = new Offers(
                "java",
                techniques.stream()
                        .map(it -> new Offer(it.name(), it.key(), it.description(), takenBy(it, protocols)))
                        .toList());
        for (Protocol protocol : protocols) {
            for (Technique technique : techniques) {
                if (protocol.isTakenBy(technique)) {
                    String path = "/" + protocol.name() + "/" + technique.name();
                    routes.put(path, new Route(protocol, technique, metrics));
                }
            }
        }
    }

    private static List<String> takenBy(Technique technique, List<Protocol> protocols) {
        return protocols.stream()
                .filter(each -> each.isTakenBy(technique))
                .map(Protocol::name)
                .toList();
    }

    /** Null where there is none. A path is exact: an escaped or a parametrised one is another. */
    Route find(String rawPath) {
        return routes.get(rawPath);
    }

    Offers offers() {
        return offers;
    }

    /** A refusal in the form of the workload whose path this would be, in JSON where there is none. */
    Reply refusal(String rawPath, Refusal refusal) {
        return protocols.stream()
                .filter(each -> (rawPath + "/").startsWith("/" + each.name() + "/"))
                .findFirst()
                .map(each -> each.refusal(refusal))
                .orElseGet(() -> Reply.error(refusal));
    }
}
