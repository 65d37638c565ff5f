package org.restbench.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NamesTest {
    private static boolean duplicate(String object) {
        try {
            JsonCursor cursor = new JsonCursor(object.getBytes(StandardCharsets.UTF_8), 0);
            cursor.skipValue();
            cursor.finish();
            return false;
        } catch (MalformedJson malformed) {
            assertThat(malformed).hasMessageStartingWith("a duplicate member");
            return true;
        }
    }

    /** A character as it is or in one of its escapes. */
    private static String spelled(char character, Random random) {
        return switch (random.nextInt(3)) {
            case 0 -> Character.toString(character);
            case 1 -> String.format("\\u%04x", (int) character);
            default -> String.format("\\u%04X", (int) character);
        };
    }

    @Test
    void a_name_comes_twice_exactly_where_a_set_of_strings_says_so() {
        Random random = new Random(4);
        String alphabet = "abé€";
        int duplicates = 0;
        for (int i = 0; i < 3000; i++) {
            Set<String> names = new HashSet<>();
            boolean expected = false;
            StringBuilder object = new StringBuilder("{");
            int members = 1 + random.nextInt(i % 40 + 1);
            for (int member = 0; member < members; member++) {
                StringBuilder name = new StringBuilder();
                StringBuilder raw = new StringBuilder();
                for (int length = random.nextInt(6); length > 0; length--) {
                    char character = alphabet.charAt(random.nextInt(alphabet.length()));
                    name.append(character);
                    raw.append(spelled(character, random));
                }
                expected |= !names.add(name.toString());
                object.append(member == 0 ? "\"" : ",\"").append(raw).append("\":1");
            }
            assertThat(duplicate(object + "}")).as(object.toString()).isEqualTo(expected);
            duplicates += expected ? 1 : 0;
        }
        assertThat(duplicates).isBetween(500, 2500);
    }

    @Test
    void an_escape_of_every_kind_is_the_character_it_stands_for() {
        assertThat(
                        duplicate(
                                "{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\":1,\"\\u0022\\u005c\\u002f\\u0008\\u000c\\u000A\\u000d\\u0009\":1}"))
                .isTrue();
        assertThat(duplicate("{\"😀é\":1,\"\\ud83d\\ude00\\u00e9\":1}")).isTrue();
        assertThat(duplicate("{\"😀é\":1,\"\\ud83d\\ude01\\u00e9\":1}")).isFalse();
    }

    @Test
    void the_names_of_one_object_are_no_others() {
        assertThat(duplicate("{\"a\":{\"a\":1,\"b\":{\"b\":1,\"a\":1}},\"b\":[{\"a\":1},{\"a\":1,\"b\":2}]}"))
                .isFalse();
        assertThat(duplicate("{\"a\":{\"x\":1,\"y\":1},\"b\":{\"x\":1,\"y\":1,\"x\":1}}"))
                .isTrue();
    }

    @Test
    void the_last_of_very_many_is_noticed() {
        StringBuilder object = new StringBuilder("{");
        for (int i = 0; i < 100_000; i++) {
            object.append('"').append(i).append("\":1,");
        }
        assertThat(duplicate(object + "\"99999\":1}")).isTrue();
        assertThat(duplicate(object + "\"100000\":1}")).isFalse();
    }
}
