package org.restbench.workload.npb.cg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.restbench.workload.TestLoops.BACKWARDS;
import static org.restbench.workload.TestLoops.IN_ORDER;
import static org.restbench.workload.TestLoops.singlePrecision;
import static org.restbench.workload.npb.Runs.run;
import static org.restbench.workload.npb.Runs.seedAfter;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.npb.Problem.Outcome;
import org.restbench.workload.npb.cg.ConjugateGradient.GradientClass;
import org.restbench.workload.npb.cg.ConjugateGradient.Solver;

class ConjugateGradientTest {
    private static final long SEED = LinearCongruential.SEED;

    private static GradientClass sizes(String name) {
        return name.equals("S") ? GradientClass.S : name.equals("W") ? GradientClass.W : GradientClass.A;
    }

    private static ConjugateGradient of(GradientClass sizes) {
        return new ConjugateGradient(sizes, ConjugateGradient.STEPS, SEED);
    }

    @ParameterizedTest
    @CsvSource({
        "S, 78148, -12446.071917984, -4796.559321013",
        "W, 508402, -75335.176817168, -26325.256014459",
        "A, 1853104, -257193.645984511, -77001.568415833"
    })
    void the_matrix_is_that_of_npb(String name, int entries, double trace, double sum) {
        SparseMatrix matrix = of(sizes(name)).input(false, BACKWARDS);
        assertThat(matrix.entries()).isEqualTo(entries);
        double onDiagonal = 0;
        for (int row = 0; row < matrix.order(); row++) {
            onDiagonal += at(matrix, row, row);
        }
        assertThat(onDiagonal).isCloseTo(trace, within(1e-7));
        assertThat(Arrays.stream(matrix.values()).sum()).isCloseTo(sum, within(1e-7));
    }

    private static double at(SparseMatrix matrix, int row, int column) {
        int found = Arrays.binarySearch(matrix.columns(), matrix.rowFrom()[row], matrix.rowFrom()[row + 1], column);
        return found < 0 ? 0 : matrix.values()[found];
    }

    @Test
    void the_first_row_has_the_entries_of_npb() {
        SparseMatrix matrix = of(GradientClass.S).input(false, IN_ORDER);
        assertThat(matrix.columns()).startsWith(0, 1, 36);
        assertThat(matrix.values()[0]).isCloseTo(-8.827405531242738, within(1e-14));
        assertThat(matrix.values()[1]).isCloseTo(0.08061892944739288, within(1e-15));
        assertThat(matrix.values()[2]).isCloseTo(0.39278132511447694, within(1e-15));
    }

    @Test
    void the_matrix_is_symmetric_with_ascending_columns() {
        SparseMatrix matrix = of(GradientClass.S).input(false, IN_ORDER);
        double worst = 0;
        for (int row = 0; row < matrix.order(); row++) {
            int[] columns = Arrays.copyOfRange(matrix.columns(), matrix.rowFrom()[row], matrix.rowFrom()[row + 1]);
            assertThat(columns).isSorted().doesNotHaveDuplicates();
            for (int column : columns) {
                worst = Math.max(worst, Math.abs(at(matrix, row, column) - at(matrix, column, row)));
            }
        }
        assertThat(worst).isLessThan(1e-13);
    }

    @Test
    void zeta_goes_the_way_it_does_in_npb() {
        SparseMatrix matrix = of(GradientClass.S).input(false, IN_ORDER);
        Solver solver = new Solver(matrix, ConjugateGradient.STEPS, IN_ORDER);
        solver.reset();
        assertThat(solver.iterate(10)).isCloseTo(9.998644157914, within(1e-10));
        assertThat(solver.residualNorm).isBetween(0.5e-13, 3e-13);
        assertThat(solver.iterate(10)).isCloseTo(8.573327920322, within(1e-10));
        assertThat(solver.products).isEqualTo(2 * 26);
    }

    @ParameterizedTest
    @CsvSource({"S, 66.654", "W, 420.63"})
    void small_classes_verify_in_any_order_of_tasks(String name, double millionOperations) {
        Outcome inOrder = run(of(sizes(name)), IN_ORDER);
        assertThat(inOrder.verified()).isTrue();
        assertThat(inOrder.iterations()).isEqualTo(15);
        assertThat(inOrder.millionOperations()).isCloseTo(millionOperations, within(0.005));
        assertThat(run(of(sizes(name)), BACKWARDS).value()).isEqualTo(inOrder.value());
    }

    @Test
    void other_numbers_do_not_verify() {
        assertThat(run(new ConjugateGradient(GradientClass.S, 25, SEED + 2), IN_ORDER)
                        .verified())
                .isFalse();
        assertThat(run(new ConjugateGradient(GradientClass.S, 25, seedAfter(1)), IN_ORDER)
                        .verified())
                .isFalse();
    }

    @Test
    void a_shift_that_is_not_the_matrix_s_does_not_verify() {
        Solver solver = new Solver(of(GradientClass.S).input(false, IN_ORDER), ConjugateGradient.STEPS, IN_ORDER);
        solver.reset();
        double zeta = 0;
        for (int iteration = 0; iteration < 15; iteration++) {
            zeta = solver.iterate(11);
        }
        assertThat(of(GradientClass.S).verifies(zeta, solver.products)).isFalse();
        assertThat(of(GradientClass.S).verifies(zeta - 1, solver.products)).isTrue();
    }

    @Test
    void single_precision_does_not_verify() {
        assertThat(run(of(GradientClass.S), singlePrecision()).verified()).isFalse();
    }

    @Test
    void a_step_left_out_does_not_verify_although_zeta_is_right() {
        Outcome short24 = run(new ConjugateGradient(GradientClass.S, 24, SEED), IN_ORDER);
        assertThat(short24.verified()).isFalse();
        assertThat(short24.value().get(0)).isCloseTo(GradientClass.S.zeta(), within(1e-10));
    }
}
