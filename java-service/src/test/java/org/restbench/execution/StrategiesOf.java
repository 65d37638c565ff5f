package org.restbench.execution;

import java.util.List;
import org.restbench.affinity.OpenHftAffinity;

/** All strategies as on a machine with so many cores, one of them pinned to a core that there is. */
public final class StrategiesOf {
    private StrategiesOf() {}

    public static Strategies cores(int cores) {
        OpenHftAffinity affinity = new OpenHftAffinity();
        int core = affinity.coresOfProcess().length() - 1;
        return new Strategies(affinity, List.of(core), cores, 2, 200, 0);
    }

    /** The one of a name. */
    public static ExecutionStrategy named(String name, Strategies strategies) {
        return strategies.all().stream()
                .filter(technique -> technique.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + ": not one of " + names(strategies)))
                .strategy();
    }

    public static List<String> names(Strategies strategies) {
        return strategies.all().stream().map(Technique::name).toList();
    }
}
