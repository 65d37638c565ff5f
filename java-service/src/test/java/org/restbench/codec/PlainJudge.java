package org.restbench.codec;

import java.math.BigInteger;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the contract says of a matrix request, by a tree and without regard to time or memory. */
final class PlainJudge {
    private static final JsonMapper TREES = JsonMapper.builder(JsonFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private PlainJudge() {}

    /** The code of the first fault, 200 where there is none. */
    static String codeOf(String body) {
        JsonNode root;
        try {
            root = TREES.readTree(body);
        } catch (JacksonException malformed) {
            return "002";
        }
        if (!root.isObject()) {
            return "002";
        }
        JsonNode one = root.path("matrixOne");
        JsonNode two = root.path("matrixTwo");
        if (!isId(root.path("requestId")) || !hasShape(one) || !hasShape(two)) {
            return "003";
        }
        if (!hasIntegers(one) || !hasIntegers(two)) {
            return "005";
        }
        if (!hasWidth(one) || !hasWidth(two)) {
            return "004";
        }
        return one.get("columnCount").asInt() == two.get("rows").size() ? "200" : "001";
    }

    private static boolean isId(JsonNode id) {
        return id.isString() && !id.asString().isEmpty() && id.asString().length() <= 128 || isLong(id);
    }

    private static boolean isLong(JsonNode number) {
        return number.isIntegralNumber() && number.bigIntegerValue().bitLength() < 64;
    }

    private static boolean hasShape(JsonNode matrix) {
        JsonNode count = matrix.path("columnCount");
        JsonNode rows = matrix.path("rows");
        return count.isIntegralNumber()
                && count.bigIntegerValue().signum() > 0
                && rows.isArray()
                && !rows.isEmpty()
                && rows.valueStream().allMatch(row -> isFilled(row.path("value")));
    }

    private static boolean isFilled(JsonNode value) {
        return value.isString() ? !value.asString().isEmpty() : value.isArray() && !value.isEmpty();
    }

    private static boolean hasIntegers(JsonNode matrix) {
        return matrix.get("rows").valueStream().allMatch(row -> {
            JsonNode value = row.get("value");
            return value.isArray()
                    ? value.valueStream().allMatch(PlainJudge::isLong)
                    : elements(value).stream()
                            .allMatch(each -> each.matches(" *-?[0-9]+ *")
                                    && new BigInteger(each.replace(" ", "")).bitLength() < 64);
        });
    }

    private static boolean hasWidth(JsonNode matrix) {
        BigInteger count = matrix.get("columnCount").bigIntegerValue();
        return matrix.get("rows").valueStream().allMatch(row -> {
            JsonNode value = row.get("value");
            int width = value.isArray() ? value.size() : elements(value).size();
            return count.equals(BigInteger.valueOf(width));
        });
    }

    private static List<String> elements(JsonNode list) {
        return List.of(list.asString().split(",", -1));
    }
}
