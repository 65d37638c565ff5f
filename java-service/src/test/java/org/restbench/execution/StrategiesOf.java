package org.restbench.execution;

import java.util.List;
import org.restbench.affinity.OpenHftAffinity;

/** All strategies as on a machine with so many cores, one of them pinned to a core that there is. */
final class StrategiesOf {
    private StrategiesOf() {}

    static Strategies cores(int cores) {
        OpenHftAffinity affinity = new OpenHftAffinity();
        int core = affinity.coresOfProcess().length() - 1;
        return new Strategies(affinity, List.of(core), cores, 2, 200, 0);
    }
}
