package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.WorkloadFactory;
import org.restbench.workload.WorkloadFactory.Sample;
import org.restbench.workload.Workloads;

/** What work costs is measured once, kept, and measured anew where what was kept is not to be used. */
class CalibrationTest {
    private static final String KEY = "this machine";

    @TempDir
    Path folder;

    private final AtomicInteger runs = new AtomicInteger();

    private Workloads workloads(long bytes) {
        WorkloadFactory factory = (query, memory) -> new LoopOnly((from, to) -> {
            memory.grow(bytes);
            runs.incrementAndGet();
        });
        return new Workloads(Map.of("loop", factory.withSamples(List.of(new Sample(Map.of(), new byte[3])))));
    }

    /** Whatever else the machine does. */
    private Calibration calibration(Path file, String key) {
        return new Calibration(
                workloads(0), new MemoryBudget(1000), new CalibrationFile(file, key), 0, System::nanoTime);
    }

    private Costs costs(Path file, String key) {
        return calibration(file, key).costs();
    }

    private Path file() {
        return folder.resolve("x.calibration");
    }

    @Test
    void every_kind_of_work_has_a_rate_and_a_handoff_takes_time() {
        Costs costs = costs(null, KEY);
        assertThat(costs.handoffNanos()).isPositive();
        assertThat(costs.rates()).containsOnlyKeys("loop");
        assertThat(costs.of("loop").nanosPerOperation()).isPositive();
        assertThat(costs.of("another")).isNotEqualTo(costs.of("loop"));
        assertThat(costs.helpFromNanos()).isLessThan(costs.longFromNanos());
    }

    @Test
    void what_was_measured_is_read_by_the_next_start_of_the_same_service_on_the_same_machine() {
        Costs measured = costs(file(), KEY);
        int before = runs.get();
        assertThat(costs(file(), KEY)).isEqualTo(measured);
        assertThat(runs).hasValue(before);
        assertThat(folder).isDirectoryContaining("glob:**.calibration").isDirectoryNotContaining("glob:**.new");
    }

    @Test
    void a_clock_too_coarse_to_see_a_run_makes_no_work_free_and_its_rates_are_kept() {
        LongSupplier stopped = () -> 5;
        CalibrationFile file = new CalibrationFile(file(), KEY);
        Calibration coarse = new Calibration(workloads(0), new MemoryBudget(1000), file, 0, stopped);
        Costs measured = coarse.costs();
        assertThat(measured.of("loop").nanosPerOperation()).isPositive();
        assertThat(costs(file(), KEY)).isEqualTo(measured);
    }

    @Test
    void a_disturbed_beginning_makes_no_handoff_dear() {
        long pause = TimeUnit.SECONDS.toNanos(1);
        AtomicInteger looks = new AtomicInteger();
        LongSupplier pausedAtFirst = () -> System.nanoTime() + pause * Math.min(700, looks.incrementAndGet());
        Calibration disturbed =
                new Calibration(workloads(0), new MemoryBudget(1000), new CalibrationFile(null, KEY), 0, pausedAtFirst);
        assertThat(disturbed.costs().handoffNanos()).isLessThan(pause);
        assertThat(looks).hasValueGreaterThan(700);
    }

    @Test
    void rounds_go_on_for_the_compiler_but_not_for_long_on_a_busy_machine() {
        long late = TimeUnit.SECONDS.toNanos(5);
        assertThat(IntStream.range(0, 9).filter(round -> Calibration.isNeeded(round, 0)))
                .containsExactly(0, 1, 2, 3);
        assertThat(IntStream.range(0, 9).filter(round -> Calibration.isNeeded(round, late)))
                .containsExactly(0, 1);
    }

    @Test
    void what_another_machine_measured_is_measured_anew_and_replaced() {
        costs(file(), "another machine");
        int before = runs.get();
        Costs ours = costs(file(), KEY);
        assertThat(runs.get()).isGreaterThan(before);
        assertThat(costs(file(), KEY)).isEqualTo(ours);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\0\1\2",
                "\\uZZZZ",
                "measuredOn=this machine",
                "measuredOn=this machine\nhandoffMedianNanos=NaN\nloop.nanosPerByte=1\nloop.nanosPerOperation=1",
                "measuredOn=this machine\nhandoffMedianNanos=-5\nloop.nanosPerByte=1\nloop.nanosPerOperation=1",
                "measuredOn=this machine\nhandoffMedianNanos=5\nloop.nanosPerByte=1e300\nloop.nanosPerOperation=1",
                "measuredOn=this machine\nhandoffMedianNanos=5\nloop.nanosPerByte=1",
                "measuredOn=this machine\nhandoffMedianNanos=5\nother.nanosPerByte=1\nother.nanosPerOperation=1"
            })
    void a_broken_file_is_measured_anew_and_mended(String broken) throws IOException {
        Files.writeString(file(), broken);
        Costs measured = costs(file(), KEY);
        assertThat(runs.get()).isPositive();
        runs.set(0);
        assertThat(costs(file(), KEY)).isEqualTo(measured);
        assertThat(runs).hasValue(0);
    }

    @Test
    void a_file_that_is_no_text_is_measured_anew() throws IOException {
        Files.write(file(), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
        assertThat(costs(file(), KEY).rates()).containsKey("loop");
    }

    @Test
    @Timeout(60)
    void a_pipe_or_a_link_in_its_place_is_not_opened() throws Exception {
        assertThat(new ProcessBuilder("mkfifo", file().toString()).start().waitFor())
                .isZero();
        assertThat(costs(file(), KEY).rates()).containsKey("loop");
        Path real = folder.resolve("real");
        costs(real, KEY);
        Files.delete(file());
        Files.createSymbolicLink(file(), real);
        runs.set(0);
        costs(file(), KEY);
        assertThat(runs.get()).isPositive();
    }

    @Test
    void a_folder_that_is_not_there_or_cannot_be_written_keeps_nothing_and_does_no_harm() throws IOException {
        assertThat(costs(folder.resolve("nowhere/x"), KEY).rates()).containsKey("loop");
        Path file = Files.writeString(folder.resolve("file"), "x", StandardCharsets.UTF_8);
        assertThat(costs(file.resolve("x"), KEY).rates()).containsKey("loop");
    }

    @Test
    void work_that_needs_more_memory_than_there_is_has_no_rate_of_its_own() {
        Calibration small = new Calibration(workloads(2000), new MemoryBudget(1000), new CalibrationFile(null, KEY));
        assertThat(small.costs().rates()).isEmpty();
    }

    @Test
    void it_is_shown_with_where_it_comes_from_and_from_what_size_on_which_choice_is_made() {
        Calibration calibration = calibration(file(), KEY);
        assertThat(calibration.shown())
                .containsEntry("calibration", "measured")
                .doesNotContainValue(file().toString())
                .containsKeys("handoffMicros", "helpFromMicros", "longFromMicros", "loop");
        assertThat(calibration(file(), KEY).shown()).containsEntry("calibration", "read");
    }

    @Test
    void what_was_measured_while_others_had_the_cores_is_used_but_not_kept() {
        double moreThanThereIs = 2;
        CalibrationFile file = new CalibrationFile(file(), KEY);
        Calibration disturbed =
                new Calibration(workloads(0), new MemoryBudget(1000), file, moreThanThereIs, System::nanoTime);
        assertThat(disturbed.costs().rates()).containsKey("loop");
        assertThat(file()).doesNotExist();
    }
}
