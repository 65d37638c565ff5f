package org.restbench.execution;

import java.util.List;
import java.util.Map;
import org.restbench.affinity.BackgroundThreads;
import org.restbench.affinity.OpenHftAffinity;

/** All strategies as on a machine with so many cores, one of them pinned to a core that there is. */
final class StrategiesOf {
    /**
     * A nanosecond an operation, a byte ten: help is worth its while from 1 500 000 operations on, long is 10 000 000.
     */
    static final Costs COSTS = new Costs(10_000, Map.of());

    private StrategiesOf() {}

    static Strategies cores(int cores) {
        OpenHftAffinity affinity = new OpenHftAffinity();
        int core = affinity.coresOfProcess().length() - 1;
        BackgroundThreads background = new BackgroundThreads(AdaptiveStrategy.WORKERS);
        return new Strategies(affinity, List.of(core), cores, 2, 200, background, () -> COSTS);
    }
}
