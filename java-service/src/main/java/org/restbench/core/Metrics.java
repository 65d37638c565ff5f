package org.restbench.core;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.Thread.State;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import org.restbench.execution.AdaptiveStrategy;
import org.restbench.memory.MemoryBudget;

/** The service's own counts of replies, which a benchmark compares with those of its clients, and the JVM's metrics. */
public final class Metrics implements AutoCloseable {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();

    public Metrics(Admission admission, Delays delays, MemoryBudget memory, AdaptiveStrategy adaptive) {
        Gauge.builder("restbench.requests.in.flight", admission, Admission::inFlight)
                .description("Requests that are admitted and not yet answered.")
                .register(registry);
        Gauge.builder("restbench.requests.delayed", delays, Delays::waiting)
                .description("Requests in flight that wait for the delay that they have asked for.")
                .register(registry);
        Gauge.builder("restbench.memory.held", memory, MemoryBudget::heldBytes)
                .description("Memory that is held now, of RESTBENCH_MEMORY_BUDGET_BYTES.")
                .baseUnit("bytes")
                .register(registry);
        for (AdaptiveStrategy.Decision decision : AdaptiveStrategy.Decision.values()) {
            FunctionCounter.builder("restbench.decisions", adaptive, it -> it.decided(decision))
                    .description("Requests of a strategy that chooses, by where it has run them.")
                    .tag("strategy", "adaptive")
                    .tag("decision", decision.label())
                    .register(registry);
        }
        new ClassLoaderMetrics().bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        garbageCollection.bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        addThreads();
    }

    /** @param retries number of transactions of the workload messages that were begun again */
    public void countRetries(LongAdder retries) {
        FunctionCounter.builder("restbench.database.retries", retries, LongAdder::sum)
                .description("Transactions that were begun again after a conflict with another one.")
                .register(registry);
    }

    Counter answered(String workload, String strategy, int status) {
        return Counter.builder("restbench.requests")
                .description("Requests answered.")
                .tag("workload", workload)
                .tag("strategy", strategy)
                .tag("status", Integer.toString(status))
                .register(registry);
    }

    /** All metrics in Prometheus' text format, version 0.0.4. */
    String scrape() {
        return registry.scrape();
    }

    /**
     * Adds gauges of the JVM's threads and their states, under the names of Micrometer's own gauges, which they
     * replace. Micrometer's ask the JVM for all threads once for each state, and the JVM keeps each thread from ending
     * until it has answered. With a few thousand short-lived threads, as {@code thread-pool} has with 60 users, one
     * scrape per second reduced throughput to a tenth or less: measuring must not change what is measured.
     */
    private void addThreads() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Gauge.builder("jvm.threads.live", threads, ThreadMXBean::getThreadCount)
                .description("Threads now, daemons included")
                .baseUnit("threads")
                .register(registry);
        Gauge.builder("jvm.threads.peak", threads, ThreadMXBean::getPeakThreadCount)
                .description("The most threads since the start")
                .baseUnit("threads")
                .register(registry);
        for (State state : State.values()) {
            Gauge.builder("jvm.threads.states", state, Metrics::threadsIn)
                    .description("Threads in this state now")
                    .tag("state", state.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                    .baseUnit("threads")
                    .register(registry);
        }
    }

    /** Threads in this state. Each is asked on its own, so that none is kept from ending. */
    static long threadsIn(State state) {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] found = new Thread[2 * group.activeCount() + 10]; // threads that start meanwhile may be missing
        return Arrays.stream(found, 0, group.enumerate(found))
                .filter(each -> each.getState() == state)
                .count();
    }

    @Override
    public void close() {
        garbageCollection.close();
        registry.close();
    }
}
