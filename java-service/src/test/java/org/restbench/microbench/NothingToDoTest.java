package org.restbench.microbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;
import org.restbench.workload.matrix.MatrixWorkload;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/** What is taken off a computation's time is the dispatch of that computation's own tasks. */
class NothingToDoTest {
    private static List<ParallelLoop.Size> asked(Workload<MatrixRequest, ?> workload, MatrixRequest product) {
        List<ParallelLoop.Size> sizes = new ArrayList<>();
        workload.compute(product, (units, unitsPerTask, body) -> sizes.add(new ParallelLoop.Size(units, unitsPerTask)));
        return sizes;
    }

    @ParameterizedTest
    @CsvSource({"loops, 100", "native, 7"})
    void asks_for_the_tasks_of_a_product_under_the_same_kernel(String kernel, int tasks) {
        MatrixRequest product = NothingToDo.product(kernel, 100);
        assertThat(asked(new NothingToDo(), product)).isEqualTo(asked(new MatrixWorkload(), product));
        assertThat(asked(new NothingToDo(), product))
                .extracting(ParallelLoop.Size::tasks)
                .containsExactly(tasks);
    }
}
