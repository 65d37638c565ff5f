package org.restbench.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;
import org.restbench.workload.matrix.Kernel;
import org.restbench.workload.matrix.Matrix;
import org.restbench.workload.matrix.MatrixProduct;
import org.restbench.workload.matrix.MatrixRequest;

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
        return new String(MatrixWriter.write(new MatrixProduct(ID, product)), StandardCharsets.UTF_8);
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
            String rows = "\"rows\":[{\"value\":\"" + list + "\"}]";
            String body = "{\"requestId\":1,\"matrixOne\":{\"columnCount\":" + values.length + "," + rows
                    + "},\"matrixTwo\":{\"columnCount\":" + values.length + "," + rows + "}}";
            MatrixRequest request = MatrixReader.read(body.getBytes(StandardCharsets.US_ASCII), Kernel.LOOPS, memory());
            assertThat(request.one().values()).as(list).startsWith(values);
            assertThat(request.two().values()).startsWith(values);
        }
    }

    private static String zeros(long value, Random random) {
        String digits = Long.toString(value);
        return random.nextInt(4) > 0 || value < 0 ? digits : "0".repeat(random.nextInt(12)) + digits;
    }

    private static String spaced(String text, Random random) {
        return random.nextInt(8) > 0 ? text : " ".repeat(random.nextInt(3)) + text + " ".repeat(random.nextInt(3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"\"",
                "\",1\"",
                "\"1,\"",
                "\"1,,2\"",
                "\"1 2\"",
                "\"1",
                "\"1,2",
                "\"12345678901,\"",
                "\"1;2\"",
                "\"-\"",
                "\"1,-\""
            })
    void refuses_lists_that_are_none(String value) {
        String body = "{\"requestId\":1,\"matrixOne\":{\"columnCount\":1,\"rows\":[{\"value\":" + value + "}]},"
                + "\"matrixTwo\":{\"columnCount\":1,\"rows\":[{\"value\":\"1\"}]}}";
        assertThatThrownBy(() -> MatrixReader.read(body.getBytes(StandardCharsets.US_ASCII), Kernel.LOOPS, memory()))
                .isInstanceOf(Irregular.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"9223372036854775807", "-9223372036854775808", "000000000000000000000000012", "-0", "0", "-00"})
    void reads_integers_that_fit(String digits) {
        byte[] text = digits.getBytes(StandardCharsets.US_ASCII);
        assertThat(Integers.parse(text, 0, text.length)).isEqualTo(new BigInteger(digits).longValueExact());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-",
                "+1",
                "9223372036854775808",
                "-9223372036854775809",
                "18446744073709551616",
                "92233720368547758070",
                "1x",
                " 1",
                "1.0",
                "--1"
            })
    void refuses_integers_that_do_not(String digits) {
        byte[] text = digits.getBytes(StandardCharsets.US_ASCII);
        assertThatThrownBy(() -> Integers.parse(text, 0, text.length)).isInstanceOf(Irregular.class);
    }

    @Test
    void the_reader_and_the_fault_finder_agree_on_twenty_thousand_damaged_bodies() {
        String sound = "{\"requestId\":\"a\\u0062\",\"x\":{\"rows\":[]},"
                + "\"matrixOne\":{\"columnCount\":2,\"rows\":[{\"value\":"
                + "\"1, -2\"},{\"value\":[3,4]}]},"
                + "\"matrixTwo\":{\"rows\":[{\"value\":\"5\\u002c6\"},{\"value\":\"7,8\"}],"
                + "\"columnCount\":2}}";
        Random random = new Random(44);
        String damage = "{}[]\",:\\0123456789.e+- \n";
        int accepted = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(sound);
            for (int change = random.nextInt(3); change >= 0; change--) {
                int at = random.nextInt(text.length());
                text.replace(at, at + random.nextInt(2), damage.charAt(random.nextInt(damage.length())) + "");
            }
            accepted += agreed(text.toString().getBytes(StandardCharsets.UTF_8)) ? 1 : 0;
        }
        assertThat(accepted).isBetween(500, 19_500);
    }

    /**
     * Whether the body is accepted; fails where the reader turns away what the finder finds no fault in, or the
     * reverse.
     */
    private static boolean agreed(byte[] body) {
        boolean read = true;
        try {
            MatrixReader.read(body, Kernel.LOOPS, memory());
        } catch (Irregular turnedAway) {
            read = false;
        }
        boolean faultless = false;
        try {
            assertThat(FaultFinder.find(body, true).code()).isIn("002", "003", "004", "005");
        } catch (IllegalStateException nothingFound) {
            faultless = true;
        }
        assertThat(read).as(new String(body, StandardCharsets.UTF_8)).isEqualTo(faultless);
        return read;
    }
}
