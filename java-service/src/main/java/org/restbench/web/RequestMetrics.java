package org.restbench.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.restbench.memory.MemoryBudget;

/** The service's own count of what it answered, which a benchmark compares with what its clients saw. */
final class RequestMetrics {
    private record Key(Route route, int status) {}

    private final MeterRegistry registry;
    private final Map<Key, Counter> answered = new ConcurrentHashMap<>();

    RequestMetrics(MeterRegistry registry, InFlight inFlight, MemoryBudget memory) {
        this.registry = registry;
        Gauge.builder("restbench.requests.in.flight", inFlight, InFlight::count)
                .description("Requests being worked on now")
                .register(registry);
        Gauge.builder("restbench.memory.held", memory, MemoryBudget::heldBytes)
                .description("Heap that requests hold now")
                .baseUnit("bytes")
                .register(registry);
    }

    void count(Route route, int status) {
        answered.computeIfAbsent(new Key(route, status), this::counter).increment();
    }

    private Counter counter(Key key) {
        return Counter.builder("restbench.requests")
                .description("Requests answered")
                .tag("workload", key.route().workload())
                .tag("strategy", key.route().technique().name())
                .tag("status", Integer.toString(key.status()))
                .register(registry);
    }
}
