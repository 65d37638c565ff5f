package org.restbench.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.workload.TestLoops.IN_ORDER;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.logs.LogsWorkload;
import org.restbench.workload.logs.LogsWorkload.LogsRequest;

/** Lines in a request's text; what the contract's examples do not reach. */
class LogsJsonTest {
    private static final int MOST = 4096;
    /** More bytes than a line of the most characters can take, however it is escaped. */
    private static final int FAR_TOO_LONG = 60_000;

    private static LogsRequest decode(String lines, MemoryBudget.Hold memory) {
        String body = "{\"requestId\":1,\"ruleSet\":\"R16\",\"lines\":" + lines + "}";
        return new LogsJson().decode(body.getBytes(StandardCharsets.UTF_8), Query.NONE, memory);
    }

    private static LogsRequest decode(String lines) {
        return decode(lines, new MemoryBudget(1 << 30).hold(0));
    }

    @Test
    void lines_are_read_as_they_were_meant() {
        assertThat(decode("[\"\", \"\\u00e9\\ud83d\\ude00\",\"a\\\\n\\t\" ]").lines())
                .containsExactly("", "\u00e9\ud83d\ude00", "a\\n\t");
    }

    @Test
    void a_line_has_up_to_4096_code_points_however_they_are_escaped() {
        for (String character : List.of("a", "\u00e9", "\ud83d\ude00", "\\ud83d\\ude00", "\\t")) {
            assertThat(decode("[\"" + character.repeat(MOST) + "\"]").characters())
                    .isEqualTo(MOST + 1);
            String tooLong = "[\"\",\"" + character.repeat(MOST + 1) + "\"]";
            assertThatThrownBy(() -> decode(tooLong))
                    .hasMessage("lines[1]: the number of characters is 4097, the limit is 4096");
        }
    }

    @ParameterizedTest
    @CsvSource({"\\n,005", "\\u000a,005", "\\u000A,005", "\\\\n,004", "\\t,004", "\\u000b,004", "\u00e9,004"})
    void a_line_feed_is_found_in_a_line_that_is_far_too_long(String end, String code) {
        String lines = "[\"a\",\"" + "x".repeat(FAR_TOO_LONG) + end + "\"]";
        assertThatThrownBy(() -> decode(lines)).isInstanceOfSatisfying(InvalidRequest.class, invalid -> {
            assertThat(invalid.code()).isEqualTo(code);
            assertThat(invalid.getMessage()).startsWith("lines[1]: ");
        });
    }

    @Test
    void characters_of_a_line_that_is_far_too_long_are_counted_as_code_points() {
        String text = "x".repeat(FAR_TOO_LONG) + "\u00e9\ud83d\ude00\\ud83d\\ude00\\u00e9\\\\\\\"n";
        assertThatThrownBy(() -> decode("[\"" + text + "\"]"))
                .hasMessage("lines[0]: the number of characters is " + (FAR_TOO_LONG + 7) + ", the limit is 4096");
    }

    @Test
    void lines_take_from_the_memory_of_their_request() {
        MemoryBudget.Hold memory = new MemoryBudget(1 << 20).hold(0);
        decode("[\"" + "x".repeat(1000) + "\"]", memory);
        assertThat(memory.bytes()).isBetween(2000L, 200_000L);
        String many = Collections.nCopies(20_000, "\"\"").toString();
        assertThatThrownBy(() -> decode(many, memory)).isInstanceOf(MemoryRefused.class);
    }

    @Test
    void what_the_answer_may_take_is_known_before_anything_is_computed() {
        LogsRequest request =
                decode(Collections.nCopies(100, "\"took 4001 ms\"").toString());
        long answer = new LogsJson().encode(new LogsWorkload().compute(request, IN_ORDER)).length;
        assertThat(new LogsWorkload().workingBytes(request)).isBetween(2 * answer, 20 * answer);
    }
}
