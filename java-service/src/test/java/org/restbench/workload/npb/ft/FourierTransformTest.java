package org.restbench.workload.npb.ft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.restbench.workload.TestLoops.BACKWARDS;
import static org.restbench.workload.TestLoops.IN_ORDER;
import static org.restbench.workload.TestLoops.singlePrecision;
import static org.restbench.workload.npb.Runs.run;
import static org.restbench.workload.npb.Runs.seedAfter;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.npb.Problem.Outcome;

class FourierTransformTest {
    private static final long SEED = LinearCongruential.SEED;

    private static Field box(int nx, int ny, int nz) {
        int size = nx * ny * nz;
        Random random = new Random(7);
        return new Field(
                nx, ny, nz, random.doubles(size).toArray(), random.doubles(size).toArray());
    }

    private static FourierClass sizes(int nx, int ny, int nz) {
        return new FourierClass("test", nx, ny, nz, List.of());
    }

    /** One component straight from the definition. */
    private static double[] component(Field field, int kx, int ky, int kz) {
        double re = 0;
        double im = 0;
        for (int at = 0; at < field.size(); at++) {
            int x = at % field.nx();
            int y = at / field.nx() % field.ny();
            int z = at / field.plane();
            double turns = (double) (kx * x % field.nx()) / field.nx()
                    + (double) (ky * y % field.ny()) / field.ny()
                    + (double) (kz * z % field.nz()) / field.nz();
            double cos = Math.cos(2 * Math.PI * turns);
            double sin = -Math.sin(2 * Math.PI * turns);
            re += field.re()[at] * cos - field.im()[at] * sin;
            im += field.re()[at] * sin + field.im()[at] * cos;
        }
        return new double[] {re, im};
    }

    @ParameterizedTest
    @CsvSource({"32, 64, 128", "128, 32, 64", "64, 128, 32", "256, 32, 32"})
    void a_transform_is_what_the_definition_says(int nx, int ny, int nz) {
        Field field = box(nx, ny, nz);
        Field original = new Field(nx, ny, nz, field.re().clone(), field.im().clone());
        new BoxTransform(sizes(nx, ny, nz)).forward(field, BACKWARDS);
        for (int[] k : new int[][] {{0, 0, 0}, {1, 2, 3}, {nx - 1, ny / 2, nz - 5}, {17, 31, 30}}) {
            int at = (k[2] * ny + k[1]) * nx + k[0];
            double[] expected = component(original, k[0], k[1], k[2]);
            assertThat(field.re()[at]).isCloseTo(expected[0], within(1e-7));
            assertThat(field.im()[at]).isCloseTo(expected[1], within(1e-7));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {32, 64, 512})
    void the_inverse_undoes_the_forward_transform(int nx) {
        Field field = box(nx, 32, 64);
        Field original = new Field(nx, 32, 64, field.re().clone(), field.im().clone());
        BoxTransform transform = new BoxTransform(sizes(nx, 32, 64));
        transform.forward(field, IN_ORDER);
        transform.inverse(field, z -> {}, IN_ORDER);
        double worst = 0;
        for (int at = 0; at < field.size(); at++) {
            worst = Math.max(worst, Math.abs(field.re()[at] / field.size() - original.re()[at]));
            worst = Math.max(worst, Math.abs(field.im()[at] / field.size() - original.im()[at]));
        }
        assertThat(worst).isBetween(1e-17, 1e-13);
    }

    @ParameterizedTest
    @ValueSource(strings = {"S", "W"})
    void small_classes_verify_in_any_order_of_tasks(String name) {
        FourierTransform problem = new FourierTransform(name.equals("S") ? FourierClass.S : FourierClass.W, SEED);
        Outcome inOrder = run(problem, IN_ORDER);
        assertThat(inOrder.verified()).isTrue();
        assertThat(inOrder.iterations()).isEqualTo(6);
        assertThat(run(problem, BACKWARDS).value()).isEqualTo(inOrder.value());
    }

    @Test
    void operations_are_counted_as_npb_does() {
        assertThat(operations(FourierClass.S)).isCloseTo(177.17, within(0.005));
        assertThat(operations(FourierClass.A)).isCloseTo(7136.4, within(0.05));
        assertThat(operations(FourierClass.B)).isCloseTo(92053.6, within(0.05));
    }

    private static double operations(FourierClass sizes) {
        return new FourierTransform(sizes, SEED).millionOperations();
    }

    @Test
    void a_kept_field_gives_the_same_again_and_again() {
        FourierTransform problem = new FourierTransform(FourierClass.S, SEED);
        Field kept = problem.input(true, IN_ORDER);
        List<Double> drawn = run(problem, IN_ORDER).value();
        assertThat(problem.run(kept, IN_ORDER).value()).isEqualTo(drawn);
        assertThat(problem.run(kept, BACKWARDS).value()).isEqualTo(drawn);
    }

    @Test
    void other_numbers_do_not_verify() {
        assertThat(run(new FourierTransform(FourierClass.S, SEED + 2), IN_ORDER).verified())
                .isFalse();
        assertThat(run(new FourierTransform(FourierClass.S, seedAfter(1)), IN_ORDER)
                        .verified())
                .isFalse();
    }

    @Test
    void single_precision_does_not_verify() {
        assertThat(run(new FourierTransform(FourierClass.S, SEED), singlePrecision())
                        .verified())
                .isFalse();
    }

    @Test
    void one_checksum_that_is_off_in_its_eleventh_digit_does_not_verify() {
        List<Double> checksums = new ArrayList<>(FourierClass.S.checksums());
        checksums.set(11, checksums.get(11) * (1 + 1e-11));
        FourierClass off = new FourierClass("S", 64, 64, 64, checksums);
        assertThat(run(new FourierTransform(off, SEED), IN_ORDER).verified()).isFalse();
    }
}
