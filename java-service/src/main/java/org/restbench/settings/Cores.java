package org.restbench.settings;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;

/**
 * The cores of the service, as they were when it started.
 *
 * @param allowed cores that the process may run on, ascending
 * @param pinned a core for each pinned worker, the highest first, as the kernel tends to handle interrupts on the
 *     lowest
 */
public record Cores(List<Integer> allowed, List<Integer> pinned) {
    /** @throws InvalidSetting where there are more pinned workers than cores */
    public static Cores of(BitSet coresOfProcess, int pinnedWorkers) {
        List<Integer> allowed = coresOfProcess.stream().boxed().toList();
        if (pinnedWorkers > allowed.size()) {
            String most = "at most " + allowed.size() + ", as the process may run on cores " + allowed + " only";
            throw new InvalidSetting("RESTBENCH_PINNED_WORKERS", Integer.toString(pinnedWorkers), most);
        }
        List<Integer> descending = new ArrayList<>(allowed);
        Collections.reverse(descending);
        return new Cores(allowed, List.copyOf(descending.subList(0, pinnedWorkers)));
    }
}
