package org.restbench.web;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import java.lang.Thread.State;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;

/**
 * The JVM's threads and their states, under Micrometer's names, in the place of Micrometer's own.
 *
 * <p>Those ask the JVM for all threads once for each state, and it keeps each of them from ending until it has told it.
 * With a few thousand that come and go, as thread-pool has with 60 users, one look a second brought the service down to
 * a tenth of its throughput and less: what looks on must not be what is measured.
 */
public final class ThreadMetrics extends JvmThreadMetrics {
    @Override
    public void bindTo(MeterRegistry registry) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Gauge.builder("jvm.threads.live", threads, ThreadMXBean::getThreadCount)
                .description("Threads now, daemons included")
                .baseUnit(BaseUnits.THREADS)
                .register(registry);
        Gauge.builder("jvm.threads.peak", threads, ThreadMXBean::getPeakThreadCount)
                .description("The most threads since the start")
                .baseUnit(BaseUnits.THREADS)
                .register(registry);
        for (State state : State.values()) {
            Gauge.builder("jvm.threads.states", state, ThreadMetrics::count)
                    .description("Threads in this state now")
                    .tag("state", state.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                    .baseUnit(BaseUnits.THREADS)
                    .register(registry);
        }
    }

    /** How many threads of the JVM are in this state: each one's own word, and none is kept from ending meanwhile. */
    static long count(State state) {
        return Arrays.stream(all()).filter(each -> each.getState() == state).count();
    }

    /** Those that came while they were listed may be missing. */
    private static Thread[] all() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] found = new Thread[2 * group.activeCount() + 10];
        return Arrays.copyOf(found, group.enumerate(found));
    }
}
