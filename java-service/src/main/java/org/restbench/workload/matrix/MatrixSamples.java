package org.restbench.workload.matrix;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.restbench.workload.WorkloadFactory.Sample;

/** A square matrix times itself, for each kernel: small enough for the caches, large enough to be timed. */
final class MatrixSamples {
    private static final int SIZE = 64;

    /** Elements of two digits, as those of the study. */
    private static final int LEAST = 10;

    private static final int MOST = 99;

    private MatrixSamples() {}

    static List<Sample> ofEachKernel() {
        return List.of(sample("loops"), sample("native"));
    }

    private static Sample sample(String kernel) {
        String matrix = "{\"columnCount\":" + SIZE + ",\"rows\":[" + rows() + "]}";
        String body = "{\"requestId\":0,\"matrixOne\":" + matrix + ",\"matrixTwo\":" + matrix + "}";
        return new Sample(Map.of("kernel", List.of(kernel)), body.getBytes(StandardCharsets.UTF_8));
    }

    private static String rows() {
        return IntStream.range(0, SIZE)
                .mapToObj(MatrixSamples::values)
                .map(values -> "{\"value\":\"" + values + "\"}")
                .collect(Collectors.joining(","));
    }

    private static String values(int row) {
        return IntStream.range(row * SIZE, (row + 1) * SIZE)
                .map(i -> LEAST + i % (MOST - LEAST + 1))
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(","));
    }
}
