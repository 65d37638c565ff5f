package org.restbench.core;

import io.micrometer.core.instrument.Counter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.restbench.execution.Strategies.Technique;

/** All compute routes: each protocol under each strategy that takes it; also {@code GET /strategies}. */
public final class Catalogue {
    /** The paths without an open segment. */
    private final Map<String, PathMatch> exact = new HashMap<>();
    /** The paths with open segments, each a group of the pattern. An empty segment matches none. */
    private final Map<Pattern, Map<String, Route>> open = new LinkedHashMap<>();

    private final List<Protocol> protocols;
    final Offers offers;

    record Offers(String service, List<Offer> strategies) {}

    record Offer(String name, String key, String description, List<String> workloads) {}

    /** A path's routes by HTTP method, at least one, and the values of its open segments. */
    record PathMatch(Map<String, Route> routes, List<String> open) {
        Reply refusedMethod() {
            return routes.values().iterator().next().refused(Refusal.wrongMethod(routes.keySet()));
        }
    }

    /**
     * One operation in one protocol under one strategy. A path of the compute routes and a method lead to it.
     *
     * @param answered counters of replies, by HTTP status
     * @param lastResort a reply with 099 made beforehand, so that it needs no memory later; it is the same for all
     *     requests and releases nothing
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
        Map<String, Map<String, Route>> routes = new LinkedHashMap<>(); // by path and method
        for (Protocol protocol : protocols) {
            Reply lastResort = protocol.refusal(Refusal.of(ErrorCode.FAULT, Refusal.FAULT, null));
            for (Technique technique : techniques) {
                if (protocol.isTakenBy(technique)) {
                    String path = "/" + protocol.name() + "/" + technique.name() + protocol.template();
                    Route route = new Route(protocol, technique, metrics, new ConcurrentHashMap<>(), lastResort);
                    routes.computeIfAbsent(path, first -> new LinkedHashMap<>()).put(protocol.method(), route);
                }
            }
        }
        routes.forEach((path, byMethod) -> {
            if (path.contains("{")) {
                open.put(Pattern.compile(path.replaceAll("\\{\\w+}", "([^/]+)")), byMethod);
            } else {
                exact.put(path, new PathMatch(byMethod, List.of()));
            }
        });
    }

    private static List<String> takenBy(Technique technique, List<Protocol> protocols) {
        return protocols.stream()
                .filter(each -> each.isTakenBy(technique))
                .map(Protocol::name)
                .distinct()
                .toList();
    }

    /** The routes of a path, null for none. Paths are compared as sent: with an escape, it is another path. */
    PathMatch find(String rawPath) {
        PathMatch known = exact.get(rawPath);
        if (known != null) {
            return known;
        }
        for (Map.Entry<Pattern, Map<String, Route>> each : open.entrySet()) {
            Matcher path = each.getKey().matcher(rawPath);
            if (path.matches()) {
                List<String> segments = new ArrayList<>();
                for (int group = 1; group <= path.groupCount(); group++) {
                    segments.add(path.group(group));
                }
                return new PathMatch(each.getValue(), segments);
            }
        }
        return null;
    }

    /** A refusal in the format of the protocol whose name the path begins with, else in JSON. */
    Reply refusal(String rawPath, Refusal refusal) {
        return protocols.stream()
                .filter(each -> (rawPath + "/").startsWith("/" + each.name() + "/"))
                .findFirst()
                .map(each -> each.refusal(refusal))
                .orElseGet(() -> Reply.error(refusal));
    }
}
