package org.restbench.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixWorkload.MatrixProduct;
import org.restbench.workload.matrix.MatrixWorkload.MatrixRequest;

/** Numbers in a request's and a response's text. */
class MatrixTextTest {
    private static final RequestId ID = new RequestId("7", true);

    private static MemoryBudget.Hold memory() {
        return new MemoryBudget(1 << 30).hold(0);
    }

    @Test
    void writes_any_number_as_java_does() {
        Random random = new Random(1);
        long[] values = LongStream.concat(
                        LongStream.of(Long.MIN_VALUE, Long.MAX_VALUE, 0, -1, 9, 10, -10, 99, 100, -100, 101),
                        random.longs(4989).map(value -> value >> random.nextInt(64)))
                .toArray();
        for (long power = 1; power <= Long.MAX_VALUE / 10; power *= 10) {
            values[random.nextInt(11, 5000)] = power - random.nextInt(2);
        }
        String rows = LongStream.of(values).mapToObj(value -> "[" + value + "]").collect(Collectors.joining(","));
        assertThat(write(new Matrix(5000, 1, values))).isEqualTo("{\"requestId\":\"7\",\"rows\":[" + rows + "]}");
        assertThat(write(new Matrix(1, 5000, values)))
                .isEqualTo("{\"requestId\":\"7\",\"rows\":[["
                        + rows.replace("[", "").replace("]", "") + "]]}");
    }

    @Test
    void writes_a_number_of_each_width_where_nothing_comes_behind_it() {
        for (long power = 1; power <= Long.MAX_VALUE / 10; power *= 10) {
            for (long value : new long[] {power - 1, power, 1 - power, -power}) {
                assertThat(write(new Matrix(1, 1, new long[] {value})))
                        .isEqualTo("{\"requestId\":\"7\",\"rows\":[[" + value + "]]}");
            }
        }
    }

    private static String write(Matrix product) {
        return new String(new MatrixJson(0).encode(new MatrixProduct(ID, product)), StandardCharsets.UTF_8);
    }

    @Test
    void reads_lists_of_any_numbers_as_java_does() {
        Random random = new Random(5);
        for (int round = 0; round < 500; round++) {
            long[] values = random.longs(1 + random.nextInt(60))
                    .map(value -> value >> random.nextInt(64))
                    .toArray();
            String list = LongStream.of(values)
                    .mapToObj(value -> spaced(zeros(value, random), random))
                    .collect(Collectors.joining(","));
            MatrixRequest request = decode(body(list, List.of(list.split(","))));
            assertThat(request.one().values()).as(list).startsWith(values);
            assertThat(request.two().values()).startsWith(values);
        }
    }

    /** A reader that looks at several characters at once has to see each kind of element behind each other. */
    @Test
    void short_elements_of_every_kind_are_read_in_every_order() {
        List<String> kinds = List.of("5", "42", "07", "123", "-3", " 8", "9 ", "", "1-", "x", "/", ":1", "1é");
        Pattern integer = Pattern.compile(" *-?[0-9]+ *");
        for (int order = 0; order < Math.pow(kinds.size(), 4); order++) {
            List<String> elements = new ArrayList<>(List.of("1"));
            for (int rest = order, i = 0; i < 4; i++, rest /= kinds.size()) {
                elements.add(kinds.get(rest % kinds.size()));
            }
            elements.add("23");
            boolean isList =
                    elements.stream().allMatch(it -> integer.matcher(it).matches());
            String body = body(String.join(",", elements), Collections.nCopies(elements.size(), "1"));
            assertThat(JsonTest.codeOf(body, memory())).as(body).isEqualTo(isList ? "200" : "005");
            if (isList) {
                assertThat(decode(body).one().values())
                        .startsWith(elements.stream()
                                .mapToLong(it -> Long.parseLong(it.strip()))
                                .toArray());
            }
        }
    }

    private static String zeros(long value, Random random) {
        String digits = Long.toString(value);
        return random.nextInt(4) > 0 || value < 0 ? digits : "0".repeat(random.nextInt(12)) + digits;
    }

    private static String spaced(String text, Random random) {
        return random.nextInt(8) > 0 ? text : " ".repeat(random.nextInt(3)) + text + " ".repeat(random.nextInt(3));
    }

    /** Those that are in no example of the contract. */
    @ParameterizedTest
    @ValueSource(strings = {"1;2", "1,-", "12345678901,", "92233720368547758070"})
    void refuses_lists_that_are_none(String list) {
        assertThat(JsonTest.codeOf(body(list, List.of("1")), memory())).isEqualTo("005");
    }

    private static MatrixRequest decode(String body) {
        return new MatrixJson(1000).decode(body.getBytes(StandardCharsets.UTF_8), Query.NONE, memory());
    }

    /** A row times a column. */
    private static String body(String row, List<String> column) {
        String rows =
                column.stream().map(each -> "{\"value\":\"" + each + "\"}").collect(Collectors.joining(","));
        return "{\"requestId\":1,\"matrixOne\":{\"columnCount\":" + column.size() + ",\"rows\":[{\"value\":\"" + row
                + "\"}]},\"matrixTwo\":{\"columnCount\":1,\"rows\":[" + rows + "]}}";
    }

    @Test
    void a_body_that_ends_anywhere_is_malformed() {
        for (String row : List.of("1,-2, 3", "\\u0031,\\\"")) {
            String whole = body(row, List.of("1"));
            for (int end = 0; end < whole.length(); end++) {
                String begun = whole.substring(0, end);
                assertThat(JsonTest.codeOf(begun, memory())).as(begun).isEqualTo("002");
            }
        }
    }

    @Test
    void an_escaped_element_is_read_and_a_wrong_one_among_escapes_is_named_by_its_place() {
        assertThat(decode(body("\\u0031\\u0032 ", List.of("1"))).one().values()[0])
                .isEqualTo(12);
        assertThatThrownBy(() -> decode(body("\\u0031,2,3\\\"4", List.of("1"))))
                .hasMessage("matrixOne.rows[0].value[2]: must be an integer that fits 64 bits");
    }

    /** An array that grows is held beside the one before it, and its last doubling is room for nothing. */
    @ParameterizedTest
    @CsvSource({"1,100000", "2,50000", "300,300"})
    void rows_of_text_take_the_memory_of_their_elements_and_no_more(int rows, int columns) {
        long elements = (long) rows * columns + rows;
        long others = 1000 + 64 * rows;
        MemoryBudget budget = new MemoryBudget(Long.BYTES * elements + others);
        String row = "7" + ",7".repeat(columns - 1);
        MatrixRows one = new MatrixRows(rows, List.of("1" + ",1".repeat(rows - 1)));
        MatrixRows two = new MatrixRows(columns, Collections.nCopies(rows, row));
        MatrixRequest request = MatrixRows.request(ID, one, two, Query.NONE, budget.hold(0), columns);
        assertThat(request.two().values()).hasSize(rows * columns).containsOnly(7);
    }

    @Test
    void a_wrong_element_of_rows_of_text_goes_before_the_memory_that_there_never_is() {
        MatrixRows one = new MatrixRows(1, List.of("1"));
        MatrixRows two = new MatrixRows(1000, List.of("1,".repeat(999) + "x"));
        MemoryBudget.Hold memory = new MemoryBudget(1000).hold(0);
        assertThatThrownBy(() -> MatrixRows.request(ID, one, two, Query.NONE, memory, 1000))
                .hasMessage("matrixTwo.rows[0].value[999]: must be an integer that fits 64 bits");
    }

    @Test
    void a_plain_judge_finds_the_same_code_in_twenty_thousand_damaged_bodies() {
        String sound = "{\"requestId\":\"a\\u0062\",\"x\":{\"rows\":[]},"
                + "\"matrixOne\":{\"columnCount\":2,\"rows\":[{\"value\":"
                + "\"1, -2\"},{\"value\":[3,4]}]},"
                + "\"matrixTwo\":{\"rows\":[{\"value\":\"5\\u002c6\"},{\"value\":\"7,8\"}],"
                + "\"columnCount\":2}}";
        Random random = new Random(44);
        String damage = "{}[]\",:\\0123456789.e+- \n";
        Set<String> found = new TreeSet<>();
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(sound);
            for (int change = random.nextInt(3); change >= 0; change--) {
                int at = random.nextInt(text.length());
                text.replace(at, at + random.nextInt(2), damage.charAt(random.nextInt(damage.length())) + "");
            }
            String body = text.toString();
            String code = PlainJudge.codeOf(body);
            assertThat(JsonTest.codeOf(body, memory())).as(body).isEqualTo(code);
            found.add(code);
        }
        assertThat(found).contains("002", "003", "004", "005", "200");
    }
}
