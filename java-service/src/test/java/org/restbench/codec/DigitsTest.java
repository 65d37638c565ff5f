package org.restbench.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Numbers that are read and written eight bytes at a time. The judge is Java's own way between numbers and text. */
class DigitsTest {
    private static long word(String text) {
        return (long) Digits.WORDS.get(text.getBytes(StandardCharsets.ISO_8859_1), 0);
    }

    /** Around each power of ten and of two, and any. */
    private static LongStream numbers() {
        LongStream.Builder numbers = LongStream.builder();
        for (long power = 1; power > 0 && power <= Long.MAX_VALUE / 10; power *= 10) {
            LongStream.rangeClosed(power - 2, power + 1).forEach(numbers);
        }
        for (int bits = 0; bits < Long.SIZE; bits++) {
            LongStream.rangeClosed((1L << bits) - 1, (1L << bits) + 1).forEach(numbers);
        }
        Random random = new Random(5);
        for (int i = 0; i < 100_000; i++) {
            numbers.add(random.nextLong() >>> random.nextInt(Long.SIZE));
        }
        return numbers.build();
    }

    @Test
    void a_number_is_written_as_java_writes_it_and_no_further_than_it_may_be() {
        byte[] text = new byte[Digits.MOST_BYTES + 2];
        numbers().flatMap(number -> LongStream.of(number, -number)).forEach(number -> {
            int end = Digits.put(number, text, 1);
            assertThat(new String(text, 1, end - 1, StandardCharsets.US_ASCII)).isEqualTo(Long.toString(number));
            assertThat(text[0] | text[text.length - 1]).isZero();
        });
    }

    @Test
    void the_number_that_a_word_begins_with_is_read_whatever_follows() {
        for (int after = 0; after < 256; after++) {
            boolean isDigit = after >= '0' && after <= '9';
            for (String number : new String[] {"", "0", "7", "10", "099", "1234", "98765", "999999", "9999999"}) {
                String text = number + (char) after + "9".repeat(7 - number.length());
                int count = isDigit ? Long.BYTES : number.length();
                assertThat(Digits.count(word(text))).as(text).isEqualTo(count);
                if (count > 0) {
                    assertThat(Digits.value(word(text), count)).isEqualTo(Long.parseLong(text.substring(0, count)));
                }
            }
        }
    }

    @Test
    void all_numbers_of_up_to_seven_digits_that_are_written_are_read() {
        byte[] text = new byte[Digits.MOST_BYTES];
        List<Integer> wrong = new ArrayList<>();
        for (int number = 0; number < 10_000_000; number += 7) {
            int end = Digits.put(number, text, 0);
            text[end] = ',';
            long word = (long) Digits.WORDS.get(text, 0);
            if (Digits.count(word) != end || Digits.value(word, end) != number) {
                wrong.add(number);
            }
        }
        assertThat(wrong).isEmpty();
    }
}
