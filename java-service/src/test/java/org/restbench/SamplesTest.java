package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.execution.Calibration;
import org.restbench.memory.MemoryBudget;
import org.restbench.settings.Cores;
import org.restbench.settings.Settings;
import org.restbench.settings.Wiring;
import org.restbench.workload.Workloads;

/** Every kind of work that this service offers can be calibrated. */
class SamplesTest {
    @Test
    void each_workload_has_samples_of_each_of_its_kinds_which_run_and_take_time() {
        Settings settings = Settings.from(Map.of("RESTBENCH_CALIBRATION_FILE", ""));
        Wiring wiring = new Wiring();
        MemoryBudget memory = new MemoryBudget(settings.limits().memoryBudgetBytes());
        Workloads workloads = wiring.workloads(settings, memory);
        Cores cores = Cores.of(new OpenHftAffinity().coresOfProcess(), 1);
        Calibration calibration = wiring.calibration(settings, cores, workloads, memory);
        assertThat(calibration.costs().rates())
                .containsOnlyKeys("matrix loops", "matrix native", "npb IS", "npb CG", "npb MG", "npb FT")
                .allSatisfy((kind, rate) -> {
                    assertThat(rate.nanosPerByte()).as(kind).isPositive();
                    assertThat(rate.nanosPerOperation()).as(kind).isPositive();
                });
        assertThat(memory.heldBytes()).as("each sample gives its memory back").isZero();
    }
}
