package org.restbench.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

class JsonCursorTest {
    private static final JsonFactory JACKSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private static boolean accepts(byte[] text) {
        try {
            JsonCursor cursor = new JsonCursor(text, 0);
            cursor.skipValue();
            cursor.finish();
            return true;
        } catch (MalformedJson malformed) {
            return false;
        }
    }

    private static boolean accepts(String text) {
        return accepts(text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                " [ ] ",
                "0",
                "-0",
                "1.5e-7",
                "1E+2",
                "true",
                "null",
                "\"\"",
                "\"\\u00e9\\ud83d\\ude00\"",
                "{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2}]}",
                "\"é😀\"",
                "\t\r\n[1 , 2]"
            })
    void accepts_what_is_json(String text) {
        assertThat(accepts(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[1",
                "[1,]",
                "[,1]",
                "{\"a\":1,}",
                "{a:1}",
                "01",
                "1.",
                ".5",
                "-",
                "+1",
                "1e",
                "NaN",
                "tru",
                "nulll",
                "[1]]",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\\ud800\"",
                "\"\\udc00\\ud800\"",
                "\"\\ud800\\u0041\"",
                "\"a\nb\"",
                "'a'",
                "[1 2]",
                "{\"a\" 1}",
                "{\"a\":1,\"a\":2}",
                "{\"a\":1,\"\\u0061\":2}",
                "[{\"x\":1,\"y\":2,\"x\":3}]",
                "\uFEFF{}",
                "[1}",
                "{\"a\":1]",
                "\"\\u00-1\"",
                "{1:2}",
                "[1]x"
            })
    void refuses_what_is_not(String text) {
        assertThat(accepts(text)).isFalse();
    }

    @Test
    void refuses_bytes_that_are_not_utf_8() {
        int[][] bad = {
            {0x80},
            {0xc0, 0x80},
            {0xc1, 0xbf},
            {0xc3},
            {0xe0, 0x9f, 0xbf},
            {0xed, 0xa0, 0x80},
            {0xf0, 0x8f, 0xbf, 0xbf},
            {0xf4, 0x90, 0x80, 0x80},
            {0xf5, 0x80, 0x80, 0x80},
            {0xff},
            {0xe2, 0x82, 0x41}
        };
        for (int[] bytes : bad) {
            assertThat(accepts(inQuotes(bytes))).as("%x…", bytes[0]).isFalse();
        }
        assertThat(accepts(inQuotes(0xed, 0x9f, 0xbf))).isTrue();
        assertThat(accepts(inQuotes(0xf4, 0x8f, 0xbf, 0xbf))).isTrue();
    }

    private static byte[] inQuotes(int... bytes) {
        byte[] text = new byte[bytes.length + 2];
        text[0] = '"';
        text[bytes.length + 1] = '"';
        for (int i = 0; i < bytes.length; i++) {
            text[i + 1] = (byte) bytes[i];
        }
        return text;
    }

    @Test
    void allows_32_levels_and_not_33() {
        assertThat(accepts("[".repeat(32) + "]".repeat(32))).isTrue();
        assertThat(accepts("[".repeat(33) + "]".repeat(33))).isFalse();
        assertThat(accepts("{\"a\":".repeat(33) + "1" + "}".repeat(33))).isFalse();
        assertThat(accepts("[".repeat(100_000))).isFalse();
    }

    @Test
    void says_what_is_wrong_and_where_without_showing_it() {
        assertThatThrownBy(() -> {
                    JsonCursor cursor =
                            new JsonCursor("{\"secret\":1,\"secret\":2}".getBytes(StandardCharsets.UTF_8), 0);
                    cursor.skipValue();
                })
                .isInstanceOf(MalformedJson.class)
                .hasMessage("a duplicate member at byte 13");
    }

    @Test
    void agrees_with_jackson_on_twenty_thousand_damaged_texts() {
        String sound =
                "{\"a\":[1,-2.5e+3,0],\"b\":{\"c\":\"x\\u0041\\n\",\"d\":true},\"e\":null,\"f\":[{\"a\":false}]}";
        Random random = new Random(2238);
        String damage = "{}[]\",:\\0123456789.eE+-atrufnl bcd\n";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(sound);
            for (int change = random.nextInt(4); change >= 0; change--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(3)) {
                    case 0 -> text.deleteCharAt(at);
                    case 1 -> text.insert(at, damage.charAt(random.nextInt(damage.length())));
                    default -> text.setCharAt(at, damage.charAt(random.nextInt(damage.length())));
                }
            }
            if (accepts(text.toString()) != jacksonAccepts(text.toString())) {
                fail("they differ on " + text);
            }
        }
    }

    private static boolean jacksonAccepts(String text) {
        try (JsonParser parser =
                JACKSON.createParser(ObjectReadContext.empty(), text.getBytes(StandardCharsets.UTF_8))) {
            if (parser.nextToken() == null) {
                return false;
            }
            parser.skipChildren();
            return parser.nextToken() == null;
        } catch (JacksonException malformed) {
            return false;
        }
    }

    @Test
    void writes_strings_as_json_stringify_does() {
        assertThat(JsonStrings.quote("a\"\\/\b\f\n\r\t\u0000\u001f\u007f\u2028é😀"))
                .isEqualTo("\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u007f\u2028é😀\"");
    }

    @Test
    void reads_names_and_strings_unescaped() {
        JsonCursor cursor =
                new JsonCursor("{\"\\u0061b\":\"\\\"\\/\\n\\ud83d\\ude00\"}".getBytes(StandardCharsets.UTF_8), 0);
        cursor.enterObject();
        assertThat(cursor.nextMember()).isTrue();
        assertThat(cursor.nameIs("ab")).isTrue();
        assertThat(cursor.nameIs("b")).isFalse();
        assertThat(cursor.readString()).isEqualTo("\"/\n😀");
        assertThat(cursor.nextMember()).isFalse();
    }
}
