package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.restbench.client.Ways.until;

import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.restbench.client.codec.Matrix;
import org.restbench.client.codec.MatrixProduct;
import org.restbench.client.codec.NpbResult;

/** Messages and answers, against a service of a few lines that multiplies what a message says. */
class CodecsTest {
    private static final String ENVELOPE =
            "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body>" + "%s</e:Body></e:Envelope>";

    private static Answer ok(String text) {
        return FakeExchange.answer(200, text);
    }

    private static Matrix random(Random random, int rows, int columns) {
        long bound = random.nextInt(20) == 0 ? Long.MAX_VALUE / 8 / columns : 1000;
        long root = (long) Math.sqrt(bound);
        return new Matrix(
                columns, random.longs((long) rows * columns, -root, root).toArray());
    }

    private static Matrix product(Matrix one, Matrix two) {
        long[] values = new long[one.rows() * two.columns()];
        for (int i = 0; i < values.length; i++) {
            for (int k = 0; k < one.columns(); k++) {
                long left = one.values()[i / two.columns() * one.columns() + k];
                values[i] += left * two.values()[k * two.columns() + i % two.columns()];
            }
        }
        return new Matrix(two.columns(), values);
    }

    /** What stands between two marks, each time. */
    private static List<String> between(String text, String from, String to) {
        List<String> all = new ArrayList<>();
        for (int at = text.indexOf(from); at >= 0; at = text.indexOf(from, at)) {
            at += from.length();
            all.add(text.substring(at, text.indexOf(to, at)));
        }
        return all;
    }

    /** Rows are read, multiplied and written without the library's code, which is under test. */
    private static List<String> product(List<String> one, List<String> two) {
        long[][] right = two.stream().map(CodecsTest::numbers).toArray(long[][]::new);
        return one.stream()
                .map(CodecsTest::numbers)
                .map(left -> IntStream.range(0, right[0].length)
                        .mapToLong(column -> IntStream.range(0, left.length)
                                .mapToLong(k -> left[k] * right[k][column])
                                .sum())
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining(",")))
                .toList();
    }

    private static long[] numbers(String row) {
        return Stream.of(row.split(",", -1)).mapToLong(Long::parseLong).toArray();
    }

    private static Answer jsonService(byte[] message) {
        String text = new String(message, StandardCharsets.UTF_8);
        int second = text.indexOf("\"matrixTwo\"");
        List<String> rows = product(
                between(text.substring(0, second), "\"value\":\"", "\""),
                between(text.substring(second), "\"value\":\"", "\""));
        return ok("{\"requestId\":\"" + between(text, "\"requestId\":\"", "\"").get(0) + "\",\"rows\":[["
                + String.join("],[", rows) + "]]}");
    }

    /** The envelope of an answer. */
    private static String product(String within) {
        return ENVELOPE.formatted("<multiplyResponse xmlns='urn:restbench:matrix'>" + within + "</multiplyResponse>");
    }

    private static Answer soapService(byte[] message) {
        String text = new String(message, StandardCharsets.UTF_8);
        int second = text.indexOf("<matrixTwo>");
        List<String> product = product(
                between(text.substring(0, second), "<row>", "</row>"),
                between(text.substring(second), "<row>", "</row>"));
        String rows = "<row>" + String.join("</row><row>", product) + "</row>";
        String id = between(text, "<requestId>", "</requestId>").get(0);
        return ok(product("<product><requestId>" + id + "</requestId>" + rows + "</product>"));
    }

    private static void isTheOraclesProduct(
            Codec<MatrixProduct.Input, MatrixProduct> codec, Function<byte[], Answer> service) throws ServiceRefused {
        Random random = new Random(3);
        List<Loop> loops = List.of(Loop.team(2), Loop.team(5));
        for (int i = 0; i < 10_000; i++) {
            int inner = 1 + random.nextInt(6);
            MatrixProduct.Input input = new MatrixProduct.Input(
                    "call-" + i,
                    random(random, 1 + random.nextInt(6), inner),
                    random(random, inner, 1 + random.nextInt(6)));
            byte[] message = codec.encode(input, Loop.IN_ORDER);
            Answer answer = service.apply(message);
            MatrixProduct product = codec.decode(answer, Loop.IN_ORDER);
            assertThat(product).isEqualTo(new MatrixProduct("call-" + i, product(input.one(), input.two())));
            if (i % 20 == 0) {
                for (Loop team : loops) {
                    assertThat(codec.encode(input, team)).isEqualTo(message);
                    assertThat(codec.decode(answer, team)).isEqualTo(product);
                }
            }
        }
    }

    @Test
    void jsonGivesTheProductOfWhatItAsked() throws ServiceRefused {
        isTheOraclesProduct(MatrixProduct.JSON, CodecsTest::jsonService);
    }

    @Test
    void soapGivesTheProductOfWhatItAsked() throws ServiceRefused {
        isTheOraclesProduct(MatrixProduct.SOAP, CodecsTest::soapService);
    }

    @Test
    void idsAndExtremesAreWrittenAndReadAsTheyAre() throws ServiceRefused {
        Matrix extremes = new Matrix(2, new long[] {Long.MIN_VALUE, Long.MAX_VALUE});
        MatrixProduct.Input input = new MatrixProduct.Input("a\"<&>\\é😀", extremes, new Matrix(1, new long[] {1, 0}));
        assertThat(new String(MatrixProduct.JSON.encode(input, Loop.IN_ORDER), StandardCharsets.UTF_8))
                .contains("a\\\"<&>\\\\é😀", "-9223372036854775808,9223372036854775807");
        assertThat(new String(MatrixProduct.SOAP.encode(input, Loop.IN_ORDER), StandardCharsets.UTF_8))
                .contains("a\"&lt;&amp;&gt;\\é😀", "<row>-9223372036854775808,9223372036854775807</row>");
        Answer xml = ok(product("<product><requestId>a&lt;<![CDATA[<&]]>&#65;<!-- -->b</requestId>"
                + "<row>-9223372036854775808</row></product>"));
        assertThat(MatrixProduct.SOAP.decode(xml, Loop.IN_ORDER))
                .isEqualTo(new MatrixProduct("a<<&Ab", new Matrix(1, new long[] {Long.MIN_VALUE})));
    }

    private static final NpbResult FT = new NpbResult(
            "7", "FT", "S", true, List.of(554.6087004964, 484.5363331978), List.of(554.6, 484.5), 6, 0.25, 0.5, 700.5);

    @Test
    void kernelsAreReadAlikeFromJsonAndSoap() throws ServiceRefused {
        Answer json = ok(
                "{\"requestId\":\"7\",\"kernel\":\"FT\",\"class\":\"S\",\"verified\":true,\"value\":[[554.6087004964,"
                        + "484.5363331978]],\"reference\":[[554.6,484.5]],\"iterations\":6,\"kernelSeconds\":0.25,"
                        + "\"totalSeconds\":0.5,\"mops\":700.5}");
        assertThat(NpbResult.JSON.decode(json, Loop.IN_ORDER)).isEqualTo(FT);
        Answer soap = ok(ENVELOPE.formatted("<runResponse xmlns='urn:restbench:npb'><result><requestId>7</requestId>"
                + "<kernel>FT</kernel><class>S</class><verified>true</verified><value>554.6087004964</value>"
                + "<value>484.5363331978</value><reference>554.6</reference><reference>484.5</reference>"
                + "<iterations>6</iterations><kernelSeconds>0.25</kernelSeconds><totalSeconds>0.5</totalSeconds>"
                + "<mops>700.5</mops></result></runResponse>"));
        assertThat(NpbResult.SOAP.decode(soap, Loop.IN_ORDER)).isEqualTo(FT);
        NpbResult.Input input = new NpbResult.Input("7", "FT", "S", false);
        assertThat(new String(NpbResult.JSON.encode(input, Loop.IN_ORDER), StandardCharsets.UTF_8))
                .isEqualTo("{\"requestId\":\"7\",\"class\":\"S\",\"generate\":false}");
        assertThat(new String(NpbResult.SOAP.encode(input, Loop.IN_ORDER), StandardCharsets.UTF_8))
                .contains("<kernel>FT</kernel><class>S</class><generate>false</generate>");
    }

    private static final String JSON_ERROR =
            "{\"requestId\":null,\"errorCode\":\"008\",\"errorMessage\":\"too many requests\"}";
    private static final String SOAP_FAULT = ENVELOPE.formatted("<e:Fault><faultcode>e:Server</faultcode>"
            + "<faultstring>too many requests</faultstring><detail><requestFault xmlns='urn:restbench:matrix'>"
            + "<requestId>7</requestId><errorCode>008</errorCode><errorMessage>too many requests</errorMessage>"
            + "</requestFault></detail></e:Fault>");

    @Test
    void errorsAreRefusals() {
        assertThatThrownBy(() -> MatrixProduct.JSON.decode(FakeExchange.answer(503, JSON_ERROR), Loop.IN_ORDER))
                .isInstanceOfSatisfying(ServiceRefused.class, refused -> {
                    assertThat(refused.errorCode()).isEqualTo("008");
                    assertThat(refused.status()).isEqualTo(503);
                    assertThat(refused.requestId()).isNull();
                    assertThat(refused).hasMessage("too many requests");
                });
        assertThatThrownBy(() -> MatrixProduct.SOAP.decode(FakeExchange.answer(500, SOAP_FAULT), Loop.IN_ORDER))
                .isInstanceOfSatisfying(ServiceRefused.class, refused -> {
                    assertThat(refused.errorCode()).isEqualTo("008");
                    assertThat(refused.requestId()).isEqualTo("7");
                });
    }

    @Test
    void aDtdIsRefusedAndNothingIsFetched() {
        String entity = product("<product><requestId>&a;</requestId><row>1</row></product>");
        isMalformed(MatrixProduct.SOAP, "<!DOCTYPE e [<!ENTITY a \"x\">]>" + entity);
    }

    @Test
    void anAnswerOfAnotherFormIsMalformed() {
        String one = "<product><requestId>1</requestId><row>1,2</row></product>";
        for (String within : List.of(
                "", one + one, one.replace(">1<", ">a&b;c<"), one.replace("1,2", "1<b/>"), one.replace("1,2", "x"))) {
            isMalformed(MatrixProduct.SOAP, product(within));
        }
        String wide = one.replace("1,2", "1" + ",1".repeat(999_999)); // with the rows below 16 GB, or no array at all
        for (int rows : List.of(2_000, 3_000)) {
            isMalformed(
                    MatrixProduct.SOAP,
                    product(wide.replace("</product>", "<row>1</row>".repeat(rows) + "</product>")));
        }
        for (String rows : List.of("[58,64]", "[[58],[64,1]]", "[[5.5]]", "[[\"5\"]]", "[[[5]]]", "[[]]", "{}", "5")) {
            isMalformed(MatrixProduct.JSON, "{\"requestId\":\"1\",\"rows\":" + rows + "}");
        }
        isMalformed(MatrixProduct.JSON, "{\"requestId\":1,\"rows\":[[5]]}");
    }

    /** An exception, and the body of the answer that it is about. */
    private record Kept(MalformedAnswer malformed, WeakReference<byte[]> body) {
        static Kept of(Codec<?, ?> codec, String text) {
            Answer answer = ok(text);
            MalformedAnswer malformed =
                    catchThrowableOfType(MalformedAnswer.class, () -> codec.decode(answer, Loop.IN_ORDER));
            return new Kept(malformed, new WeakReference<>(answer.body()));
        }
    }

    @Test
    void aMalformedAnswerIsNotKeptByItsException() throws InterruptedException {
        String digits = "1".repeat(100_000);
        List<Kept> all = List.of(
                Kept.of(MatrixProduct.JSON, "{\"requestId\":\"1\",\"rows\":[[5],]}"),
                Kept.of(MatrixProduct.JSON, "{\"requestId\":\"1\",\"rows\":[[" + digits + "]]}"),
                Kept.of(MatrixProduct.SOAP, "<a"),
                Kept.of(
                        MatrixProduct.SOAP,
                        product("<product><requestId>1</requestId><row>" + digits + "</row></product>")),
                Kept.of(
                        NpbResult.JSON,
                        "{\"requestId\":\"1\",\"kernel\":\"IS\",\"class\":\"S\",\"verified\":true,\"value\":\"x%s\"}"
                                .formatted(digits)));
        for (Kept each : all) {
            until(
                    () -> {
                        System.gc();
                        return each.body().get() == null;
                    },
                    "the end of the body of " + each.malformed());
            assertThat(each.malformed().getMessage()).hasSizeLessThan(500);
            assertThat(each.malformed()).hasNoCause();
        }
    }

    private static void isMalformed(Codec<?, ?> codec, String answer) {
        for (Loop loop : List.of(Loop.IN_ORDER, Loop.team(2))) {
            assertThatThrownBy(() -> codec.decode(ok(answer), loop)).as(answer).isInstanceOf(MalformedAnswer.class);
        }
    }

    /** Any change of an answer gives a result, a refusal or a malformed answer, and nothing else. */
    @Test
    void mutatedAnswersAreResultsRefusalsOrMalformed() {
        Random random = new Random(4);
        MatrixProduct.Input input = new MatrixProduct.Input("call-1", random(random, 3, 2), random(random, 2, 3));
        Answer json = jsonService(MatrixProduct.JSON.encode(input, Loop.IN_ORDER));
        Answer soap = soapService(MatrixProduct.SOAP.encode(input, Loop.IN_ORDER));
        List<Map.Entry<Codec<?, ?>, Answer>> seeds = List.of(
                Map.entry(MatrixProduct.JSON, json),
                Map.entry(MatrixProduct.JSON, FakeExchange.answer(503, JSON_ERROR)),
                Map.entry(NpbResult.JSON, json),
                Map.entry(MatrixProduct.SOAP, soap),
                Map.entry(MatrixProduct.SOAP, FakeExchange.answer(500, SOAP_FAULT)),
                Map.entry(NpbResult.SOAP, soap));
        int results = 0;
        int failures = 0;
        for (int i = 0; i < 100_000; i++) {
            Map.Entry<Codec<?, ?>, Answer> seed = seeds.get(i % seeds.size());
            Answer mutated = new Answer(
                    seed.getValue().status(), Map.of(), mutate(seed.getValue().body(), random));
            try {
                seed.getKey().decode(mutated, Loop.IN_ORDER);
                results++;
            } catch (ServiceRefused | MalformedAnswer declared) {
                failures++;
            }
        }
        assertThat(results).isPositive();
        assertThat(failures).isGreaterThan(50_000);
    }

    private static byte[] mutate(byte[] body, Random random) {
        byte[] bytes = body.clone();
        for (int i = random.nextInt(3); i >= 0; i--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] = (byte) random.nextInt(256);
                case 1 -> bytes[at] = bytes[random.nextInt(bytes.length)];
                case 2 -> bytes = java.util.Arrays.copyOf(bytes, Math.max(1, at));
                default -> System.arraycopy(body, 0, bytes, at, Math.min(body.length, bytes.length - at));
            }
        }
        return bytes;
    }
}
