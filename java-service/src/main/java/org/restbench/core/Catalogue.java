package org.restbench.core;

import io.micrometer.core.instrument.Counter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.restbench.execution.Technique;

/** Every workload under every strategy that takes it, and the list of them that clients read. */
public final class Catalogue {
    private final Place root = new Place();
    private final Map<String, PathMatch> exact = new HashMap<>(); // of the paths that leave nothing open
    private final List<Protocol> protocols;
    private final Offers offers;

    record Offers(String service, List<Offer> strategies) {}

    record Offer(String name, String key, String description, List<String> workloads) {}

    /** A segment of paths, and what may follow it. */
    private static final class Place {
        private static final String OPEN = "{}";

        private final Map<String, Place> next = new HashMap<>();
        private final Map<String, Route> routes = new LinkedHashMap<>();

        private static boolean isOpen(String segment) {
            return segment.startsWith("{");
        }

        Place add(String template) {
            Place place = this;
            for (String segment : template.split("/", -1)) {
                place = place.next.computeIfAbsent(isOpen(segment) ? OPEN : segment, name -> new Place());
            }
            return place;
        }

        /** @param open gets the segments that are open here; an empty one never is */
        Place find(String rawPath, List<String> open) {
            Place place = this;
            for (String segment : rawPath.split("/", -1)) {
                Place known = isOpen(segment) ? null : place.next.get(segment);
                if (known == null && !segment.isEmpty()) {
                    known = place.next.get(OPEN);
                    open.add(segment);
                }
                if (known == null) {
                    return null;
                }
                place = known;
            }
            return place;
        }
    }

    /**
     * What a path stands for.
     *
     * @param routes at least one, by their method
     * @param open the segments that the path's operations leave open
     */
    record PathMatch(Map<String, Route> routes, List<String> open) {
        /** 405. */
        Reply refusedMethod() {
            return routes.values().iterator().next().refused(Refusal.wrongMethod(routes.keySet()));
        }
    }

    /**
     * One operation in one protocol under one strategy: what a path of the compute route and a method stand for.
     *
     * @param answered by status
     * @param lastResort 099 for any request, so that it takes no memory: it gives nothing back
     */
    record Route(
            Protocol protocol, Technique technique, Metrics metrics, Map<Integer, Counter> answered, Reply lastResort) {
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
            Reply lastResort = protocol.refusal(Refusal.of(ErrorCode.FAULT, Errors.FAULT, null));
            for (Technique technique : techniques) {
                if (protocol.isTakenBy(technique)) {
                    String path = "/" + protocol.name() + "/" + technique.name() + protocol.template();
                    Place place = root.add(path);
                    Route route = new Route(protocol, technique, metrics, new ConcurrentHashMap<>(), lastResort);
                    place.routes.put(protocol.method(), route);
                    if (!path.contains("{")) {
                        exact.put(path, new PathMatch(place.routes, List.of()));
                    }
                }
            }
        }
    }

    private static List<String> takenBy(Technique technique, List<Protocol> protocols) {
        return protocols.stream()
                .filter(each -> each.isTakenBy(technique))
                .map(Protocol::name)
                .distinct()
                .toList();
    }

    /** Null where there is none. A path is exact: an escaped or a parametrised one is another. */
    PathMatch find(String rawPath) {
        PathMatch known = exact.get(rawPath);
        if (known != null) {
            return known;
        }
        List<String> open = new ArrayList<>(2);
        Place place = root.find(rawPath, open);
        return place == null || place.routes.isEmpty() ? null : new PathMatch(place.routes, open);
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
