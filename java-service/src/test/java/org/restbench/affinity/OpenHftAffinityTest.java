package org.restbench.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.affinity.CoreAffinity.PinRefused;

class OpenHftAffinityTest {
    private final OpenHftAffinity affinity = new OpenHftAffinity();

    /** On a thread of its own, as a pin lasts as long as its thread. */
    private static <T> T onNewThread(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, task -> new Thread(task).start())
                .join();
    }

    @Test
    void pins_a_thread_to_each_core_the_process_may_use() {
        affinity.coresOfProcess().stream().forEach(core -> {
            BitSet got = onNewThread(() -> affinity.pinCurrentThread(core).get());
            BitSet wanted = new BitSet();
            wanted.set(core);
            assertThat(got).isEqualTo(wanted);
        });
    }

    @Test
    void refuses_a_core_that_is_not_there() throws IOException {
        String possible = Files.readString(Path.of("/sys/devices/system/cpu/possible"));
        int beyond = OpenHftAffinity.parse(possible.strip()).length();
        assertThatThrownBy(() -> onNewThread(() -> {
                    affinity.pinCurrentThread(beyond);
                    return null;
                }))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(PinRefused.class)
                .hasMessageContaining("core " + beyond);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0|{0}", "0-3|{0, 1, 2, 3}", "1,3|{1, 3}", "0-1,8,10-11|{0, 1, 8, 10, 11}"})
    void reads_the_kernels_lists_of_cores(String list, String cores) {
        assertThat(OpenHftAffinity.parse(list)).hasToString(cores);
    }
}
