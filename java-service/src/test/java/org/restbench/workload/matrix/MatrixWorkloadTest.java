package org.restbench.workload.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.workload.TestLoops.IN_ORDER;
import static org.restbench.workload.TestLoops.shuffled;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload.Bound;
import org.restbench.workload.matrix.MatrixWorkload.Kernel;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;
import org.restbench.workload.matrix.MatrixWorkload.Multiplication;

class MatrixWorkloadTest {
    private static final RequestId ID = new RequestId("7", true);

    private static Matrix random(Random random, int rows, int columns, int bits) {
        long[] values = new long[rows * columns + random.nextInt(3)];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextLong() >> (Long.SIZE - bits);
        }
        return new Matrix(rows, columns, values);
    }

    private static BigInteger exact(Matrix one, Matrix two, int row, int column) {
        BigInteger sum = BigInteger.ZERO;
        for (int k = 0; k < one.columns(); k++) {
            sum = sum.add(BigInteger.valueOf(one.values()[row * one.columns() + k])
                    .multiply(BigInteger.valueOf(two.values()[k * two.columns() + column])));
        }
        return sum;
    }

    @ParameterizedTest
    @EnumSource(Kernel.class)
    void is_exact_or_says_which_element_is_not_first(Kernel kernel) {
        Random random = new Random(2019);
        int overflows = 0;
        for (int round = 0; round < 3000; round++) {
            int bits = new int[] {3, 6, 31, 33, 64}[random.nextInt(5)];
            int inner = 1 + random.nextInt(9);
            Matrix one = random(random, 1 + random.nextInt(9), inner, bits);
            Matrix two = random(random, inner, 1 + random.nextInt(9), bits == 64 ? 2 : bits);
            overflows += checkProduct(new MatrixRequest(ID, kernel, one, two), shuffled(random)) ? 0 : 1;
        }
        assertThat(overflows).isBetween(300, 2700);
    }

    /** Whether the product fits. */
    private static boolean checkProduct(MatrixRequest request, ParallelLoop loop) {
        Matrix one = request.one();
        Matrix two = request.two();
        for (int unit = 0; unit < one.rows() * two.columns(); unit++) {
            int row = unit / two.columns();
            int column = unit % two.columns();
            if (exact(one, two, row, column).bitLength() > 63) {
                assertThatThrownBy(() -> new Multiplication(request).run(loop))
                        .isInstanceOfSatisfying(InvalidRequest.class, invalid -> {
                            assertThat(invalid.code()).isEqualTo("006");
                            assertThat(invalid.getMessage()).startsWith("rows[" + row + "][" + column + "]: ");
                            assertThat(invalid.requestId()).isEqualTo(ID);
                        });
                return false;
            }
        }
        Matrix product = new Multiplication(request).run(loop);
        for (int unit = 0; unit < product.size(); unit++) {
            assertThat(product.values()[unit])
                    .isEqualTo(exact(one, two, unit / two.columns(), unit % two.columns())
                            .longValueExact());
        }
        return true;
    }

    /** Cuts the units anywhere, into about as many pieces as asked for, and runs them backwards. */
    private static ParallelLoop pieces(int count, Random random) {
        return (units, unitsPerTask, body) -> {
            int[] cuts = random.ints(count - 1, 0, units + 1).sorted().toArray();
            int to = units;
            for (int i = cuts.length - 1; i >= -1; i--) {
                int from = i < 0 ? 0 : cuts[i];
                if (from < to) {
                    body.run(from, to);
                }
                to = from;
            }
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void many_rows_at_once_are_exact_wherever_they_are_cut(int count) {
        Random random = new Random(count);
        for (int round = 0; round < 60; round++) {
            int inner = 1 + random.nextInt(150);
            int bits = random.nextInt(1, 14); // their sums fit 32 bits, or nearly do
            Matrix one = random(random, 1 + random.nextInt(round < 50 ? 40 : 600), inner, bits);
            Matrix two = random(random, inner, 1 + random.nextInt(5), bits);
            checkProduct(new MatrixRequest(ID, Kernel.NATIVE, one, two), pieces(count, random));
        }
    }

    /** Whose arithmetic shows in sums that it was never meant for: they lose all but their lowest 32 bits. */
    @Test
    void the_native_kernel_computes_every_element_alike_wherever_it_was_cut() {
        Random random = new Random(3);
        Matrix one = random(random, 40, 70, 40);
        Matrix two = random(random, 70, 5, 40);
        long[] uncut = new long[200];
        new Products(one, two, uncut).narrow(0, 200);
        assertThat(exact(one, two, 0, 0).longValue())
                .as("is not what 32 bits hold")
                .isNotEqualTo(uncut[0]);
        for (int count : new int[] {2, 3, 10, 200}) {
            long[] product = new long[200];
            pieces(count, random).forEach(200, 5, new Products(one, two, product)::narrow);
            assertThat(product).isEqualTo(uncut);
        }
    }

    @Test
    void a_task_of_the_native_kernel_fills_its_vectors_and_one_of_the_loops_is_a_row() {
        List<Integer> grains = new ArrayList<>();
        ParallelLoop noted = (units, unitsPerTask, body) -> grains.add(unitsPerTask);
        Matrix one = new Matrix(100, 2, new long[200]);
        Matrix two = new Matrix(2, 3, new long[6]);
        for (Kernel kernel : Kernel.values()) {
            new Multiplication(new MatrixRequest(ID, kernel, one, two)).run(noted);
        }
        assertThat(grains).containsExactly(3, 16 * 3);
    }

    @Test
    void the_largest_sums_of_32_bits_are_exact_and_those_beyond_as_well() {
        for (long factor : new long[] {-(1 << 14), (1 << 14) - 1, -(1 << 15), 1 << 15}) {
            Matrix one = new Matrix(
                    20, 3, LongStream.generate(() -> factor).limit(60).toArray());
            Matrix two = new Matrix(3, 1, new long[] {-(1 << 15), -(1 << 15), -(1 << 15)});
            checkProduct(new MatrixRequest(ID, Kernel.NATIVE, one, two), IN_ORDER);
        }
    }

    /** In both services: inner size · largest |one| · largest |two| up to 2^63-1. */
    @Test
    void native_has_the_limit_of_loops_and_a_check_of_each_element_only_where_sums_may_not_fit_64_bits() {
        Matrix seven = new Matrix(1, 7, new long[] {1, 1, -21870289, 1, 1, 1, 1});
        Matrix fits = new Matrix(7, 1, new long[] {60247241209L, 1, 1, 1, 1, 1, 1});
        Matrix eight = new Matrix(1, 8, new long[] {1, 1, 1 << 30, 1, 1, 1, 1, 1});
        Matrix beyond = new Matrix(8, 1, new long[] {-(1 << 30), 1, 1, 1, 1, 1, 1, 1});
        Matrix least = new Matrix(1, 1, new long[] {Long.MIN_VALUE});
        Matrix most = new Matrix(1, 1, new long[] {Long.MAX_VALUE});
        Matrix unit = new Matrix(1, 1, new long[] {-1});
        assertBound(Bound.OPERATIONS, 1, new MatrixRequest(ID, Kernel.NATIVE, seven, fits));
        assertBound(Bound.OPERATIONS, 1, new MatrixRequest(ID, Kernel.NATIVE, most, unit));
        assertBound(Bound.LOOP_OPERATIONS, 2, new MatrixRequest(ID, Kernel.NATIVE, eight, beyond));
        assertBound(Bound.LOOP_OPERATIONS, 2, new MatrixRequest(ID, Kernel.NATIVE, unit, least));
        assertBound(Bound.LOOP_OPERATIONS, 1, new MatrixRequest(ID, Kernel.LOOPS, seven, fits));
    }

    private static void assertBound(Bound bound, int loops, MatrixRequest request) {
        assertThat(new MatrixWorkload().bound(request)).isEqualTo(bound);
        assertThat(new MatrixWorkload().loops(request)).hasSize(loops);
    }
}
