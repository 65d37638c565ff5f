package org.restbench.workload.npb.mg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.restbench.workload.TestLoops.BACKWARDS;
import static org.restbench.workload.TestLoops.IN_ORDER;
import static org.restbench.workload.TestLoops.singlePrecision;
import static org.restbench.workload.npb.Runs.run;
import static org.restbench.workload.npb.Runs.seedAfter;

import java.util.Arrays;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.npb.Problem.Outcome;
import org.restbench.workload.npb.mg.Multigrid.Hierarchy;
import org.restbench.workload.npb.mg.Multigrid.MultigridClass;
import org.restbench.workload.npb.mg.Stencils.Smoother;

class MultigridTest {
    private static final long SEED = LinearCongruential.SEED;
    private static final MultigridClass S = MultigridClass.S;

    private static MultigridClass sizes(String name) {
        return MultigridClass.ALL.stream()
                .filter(sizes -> sizes.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** As NPB counts: from 1, axis 1 first. */
    private static String place(int position) {
        return "(" + (position % 32 + 1) + "," + (position / 32 % 32 + 1) + "," + (position / 1024 + 1) + ")";
    }

    @Test
    void charges_stand_where_they_do_in_npb() {
        Charges charges = new Multigrid(S, SEED).input(false, BACKWARDS);
        assertThat(Arrays.stream(charges.positive()).mapToObj(MultigridTest::place))
                .containsExactlyInAnyOrder(("(2,17,22) (3,1,4) (5,23,4) (8,2,21) (13,16,13) "
                                + "(18,27,18) (20,30,32) (22,32,7) (29,1,29) (31,5,26)")
                        .split(" "));
        assertThat(Arrays.stream(charges.negative()).mapToObj(MultigridTest::place))
                .containsExactlyInAnyOrder(("(1,12,3) (5,29,16) (6,15,1) (6,18,9) (8,15,27) "
                                + "(9,26,23) (13,3,2) (14,9,18) (21,20,12) (27,16,32)")
                        .split(" "));
    }

    @ParameterizedTest
    @CsvSource({
        "S, 2.9337960976e-03, 6.3150017906e-04, 1.7360856792e-04",
        "W30, 1.0248329989e-03, 2.1843904450e-04, 5.9899913388e-05",
        "W, 3.6169808586e-04, 7.7344445122e-05, 2.1179611299e-05"
    })
    void the_norm_falls_as_it_does_in_npb(String name, double first, double second, double third) {
        MultigridClass sizes = sizes(name);
        Hierarchy grids = new Hierarchy(sizes.levels(), sizes.smoother(), BACKWARDS);
        grids.reset(new Multigrid(sizes, SEED).input(false, IN_ORDER));
        grids.residual();
        assertThat(grids.norm()).isCloseTo(Math.sqrt(20 / Math.pow(sizes.n(), 3)), within(1e-15));
        for (double expected : new double[] {first, second, third}) {
            grids.cycle();
            grids.residual();
            assertThat(grids.norm()).isCloseTo(expected, Percentage.withPercentage(1e-7));
        }
    }

    @ParameterizedTest
    @CsvSource({"S, 4", "W30, 40", "W, 4"})
    void small_classes_verify_in_any_order_of_tasks(String name, int iterations) {
        MultigridClass sizes = sizes(name);
        Outcome inOrder = run(new Multigrid(sizes, SEED), IN_ORDER);
        assertThat(inOrder.verified()).isTrue();
        assertThat(inOrder.iterations()).isEqualTo(iterations);
        assertThat(inOrder.millionOperations())
                .isCloseTo(58e-6 * iterations * Math.pow(sizes.n(), 3), Percentage.withPercentage(1e-6));
        assertThat(run(new Multigrid(sizes, SEED), BACKWARDS).value()).isEqualTo(inOrder.value());
    }

    @Test
    void ghosts_repeat_the_opposite_face() {
        Grid grid = new Grid(4);
        double[] points = grid.points(IN_ORDER);
        grid.fillPlanes(points, BACKWARDS, i3 -> {
            for (int i2 = 1; i2 <= 4; i2++) {
                for (int i1 = 1; i1 <= 4; i1++) {
                    points[grid.line(i3, i2) + i1] = 100 * i3 + 10 * i2 + i1;
                }
            }
        });
        for (int at = 0; at < points.length; at++) {
            int i1 = at % 6;
            int i2 = at / 6 % 6;
            int i3 = at / 36;
            assertThat(points[at]).isEqualTo(100 * inside(i3) + 10 * inside(i2) + inside(i1));
        }
    }

    private static int inside(int i) {
        return (i + 3) % 4 + 1;
    }

    @Test
    void other_numbers_do_not_verify() {
        assertThat(run(new Multigrid(S, SEED + 2), IN_ORDER).verified()).isFalse();
        assertThat(run(new Multigrid(S, seedAfter(1)), IN_ORDER).verified()).isFalse();
    }

    @Test
    void the_other_smoother_or_an_iteration_less_does_not_verify() {
        assertThat(run(changed(Smoother.LARGE, 4), IN_ORDER).verified()).isFalse();
        assertThat(run(changed(Smoother.SMALL, 3), IN_ORDER).verified()).isFalse();
        assertThat(run(changed(Smoother.SMALL, 4), IN_ORDER).verified()).isTrue();
    }

    private static Multigrid changed(Smoother smoother, int iterations) {
        return new Multigrid(new MultigridClass("S", 5, iterations, smoother, iterations, S.norm()), SEED);
    }

    @Test
    void w30_that_stops_converging_does_not_verify() {
        MultigridClass short8 = new MultigridClass("W30", 6, 8, Smoother.SMALL, 4, MultigridClass.W30.norm());
        assertThat(run(new Multigrid(short8, SEED), IN_ORDER).verified()).isFalse();
    }

    @Test
    void single_precision_does_not_verify() {
        assertThat(run(new Multigrid(S, SEED), singlePrecision()).verified()).isFalse();
    }
}
