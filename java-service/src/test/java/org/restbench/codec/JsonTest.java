package org.restbench.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/** Which bodies are JSON, what is said of others, and what reading them may cost. */
class JsonTest {
    private static final String ONE_BY_ONE = "{\"columnCount\":1,\"rows\":[{\"value\":\"1\"}]}";

    private static final int WIDE = 30_000;
    private static final String WIDE_LIST = "1,".repeat(WIDE - 1) + "1";

    private final MemoryBudget budget = new MemoryBudget(1 << 30);
    private final MemoryBudget.Hold memory = budget.hold(0);

    private void decode(String body) {
        new MatrixJson(1000).decode(body.getBytes(StandardCharsets.ISO_8859_1), Query.NONE, memory);
    }

    private static String request(String members) {
        return "{" + members + "\"requestId\":1,\"matrixOne\":" + ONE_BY_ONE + ",\"matrixTwo\":" + ONE_BY_ONE + "}";
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"a":"\u00ff"                            | is not valid UTF-8
            [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[         | is nested deeper than 32 levels
            {"a":1,"a":1                              | is not well-formed JSON
            {"a":1,"\\u0061":"\\ud800"}               | has a member twice in one object
            """)
    void the_first_fault_in_the_contracts_order_is_named_and_each_is_looked_for_in_all_of_the_body(
            String body, String fault) {
        assertThatThrownBy(() -> decode(body))
                .isInstanceOfSatisfying(InvalidRequest.class, invalid -> {
                    assertThat(invalid.code()).isEqualTo("002");
                    assertThat(invalid.requestId()).isNull();
                })
                .hasMessage("the body " + fault);
    }

    @Test
    void names_and_numbers_have_no_limit_of_their_own() {
        decode(request("\"" + "n".repeat(200_000) + "\":" + "7".repeat(200_000) + ","));
        String twice = "\"" + "n".repeat(200_000) + "\":1,";
        assertThatThrownBy(() -> decode(request(twice + twice)))
                .hasMessage("the body has a member twice in one object");
    }

    @Test
    void many_names_take_memory_as_they_come() {
        String names = IntStream.range(0, 100_000)
                .mapToObj(i -> "\"" + Integer.toString(i, 36) + "\":1,")
                .collect(Collectors.joining());
        decode(request(names));
        assertThat(memory.bytes()).isGreaterThan(100 * 100_000);
        try (MemoryBudget.Hold little = new MemoryBudget(1 << 20).hold(0)) {
            byte[] body = request(names).getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> new MatrixJson(1000).decode(body, Query.NONE, little))
                    .isInstanceOf(MemoryRefused.class);
        }
    }

    /** Were each row as the first, there would be ten times as many elements as there are. */
    @Test
    void a_short_first_row_reserves_no_ten_fold_memory() {
        String longRow = "{\"value\":\"" + "1000000000000000000,".repeat(99) + "1\"}";
        String shortRow = "{\"value\":\"" + "0,".repeat(99) + "0\"}";
        String rows = shortRow + ("," + longRow).repeat(2000);
        String body = "{\"requestId\":1,\"matrixOne\":{\"columnCount\":100,\"rows\":[" + rows + "]},\"matrixTwo\":"
                + ONE_BY_ONE + "}";
        assertThatThrownBy(() -> decode(body)).hasMessage("Invalid number of columns and rows for multiplication");
        assertThat(body.length()).isGreaterThan(3 << 20);
        try (MemoryBudget.Hold enough = new MemoryBudget(4L * body.length()).hold(0)) {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> new MatrixJson(1000).decode(bytes, Query.NONE, enough))
                    .isInstanceOf(InvalidRequest.class);
        }
    }

    /** The room made beforehand was too little for them: the array grew to twice its size. */
    @Test
    void rows_like_the_studys_are_read_into_an_array_that_does_not_grow() {
        String row = IntStream.range(0, 50).mapToObj(Integer::toString).collect(Collectors.joining(","));
        String rows = ("{\"value\":\"" + row + "\"},").repeat(999) + "{\"value\":\"" + row + "\"}";
        String column = "{\"value\":\"1\"},".repeat(49) + "{\"value\":\"1\"}";
        String body = "{\"requestId\":1,\"matrixOne\":{\"columnCount\":50,\"rows\":[" + rows
                + "]},\"matrixTwo\":{\"columnCount\":1,\"rows\":[" + column + "]}}";
        MemoryBudget.Hold enough = new MemoryBudget(Long.BYTES * 55_000).hold(0);
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        MatrixRequest read = new MatrixJson(1000).decode(bytes, Query.NONE, enough);
        assertThat(read.one().rows()).isEqualTo(1000);
    }

    /** A row times one element. */
    private static String wide(String list) {
        return "{\"requestId\":1,\"matrixOne\":" + ONE_BY_ONE + ",\"matrixTwo\":{\"columnCount\":" + WIDE
                + ",\"rows\":[{\"value\":" + list + "}]}}";
    }

    /** Of an array that grew, up to three times as much was held. */
    @Test
    void a_matrix_of_one_row_takes_no_more_memory_than_its_elements() {
        for (String list : List.of("\"" + WIDE_LIST + "\"", "[" + WIDE_LIST + "]")) {
            byte[] body = wide(list).getBytes(StandardCharsets.UTF_8);
            try (MemoryBudget.Hold enough = new MemoryBudget(Long.BYTES * WIDE + 1000).hold(0)) {
                MatrixRequest read = new MatrixJson(WIDE).decode(body, Query.NONE, enough);
                assertThat(read.two().columns()).isEqualTo(WIDE);
                assertThat(read.two().values()).hasSize(WIDE).containsOnly(1);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ]}}                                     | ]}                                        | 002
            "requestId":1                           | "requestId":[]                            | 003
            ,1"}]}}                                 | ,x"}]}}                                   | 005
            "columnCount":30000                     | "columnCount":29999                       | 004
            "columnCount":1,"rows":[{"value":"1"}]  | "columnCount":2,"rows":[{"value":"1,2"}]  | 001
            "columnCount":1,"rows":[{"value":"1"}]  | "columnCount":1,"rows":[{"value":"1"},{"value":"2"}] | 007
            "requestId":1                           | "requestId":2                             | 010
            """)
    void that_there_never_is_the_memory_is_said_behind_all_else_that_is_wrong(
            String sound, String instead, String code) {
        String body = wide("\"" + WIDE_LIST + "\"").replace(sound, instead);
        try (MemoryBudget.Hold little = new MemoryBudget(10_000).hold(0)) {
            assertThat(codeOf(body, little)).isEqualTo(code);
        }
    }

    /** Of the refusal, 200 where there is none. */
    static String codeOf(String body, MemoryBudget.Hold memory) {
        try {
            new MatrixJson(WIDE).decode(body.getBytes(StandardCharsets.UTF_8), Query.NONE, memory);
            return "200";
        } catch (InvalidRequest invalid) {
            return invalid.code();
        } catch (MemoryRefused refused) {
            return refused.never() ? "010" : "008";
        }
    }

    @Test
    void an_id_is_found_in_any_well_formed_body_and_nowhere_else() {
        assertThat(identify("{\"x\":[1],\"requestId\":\"a\"}")).isEqualTo(new RequestId("a", false));
        assertThat(identify("{\"requestId\":-0}")).isEqualTo(new RequestId("0", true));
        assertThat(identify("{\"requestId\":1.0}")).isNull();
        assertThat(identify("{\"requestId\":1")).isNull();
        assertThat(identify("{\"requestId\":\"" + "x".repeat(129) + "\"}")).isNull();
        assertThat(identify("{\"requestId\":\"" + "\\ud83d\\ude00".repeat(128) + "\"}")
                        .text())
                .hasSize(256);
    }

    private static RequestId identify(String body) {
        return RequestIds.identify(body.getBytes(StandardCharsets.UTF_8));
    }
}
