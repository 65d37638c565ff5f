package org.restbench.workload.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.workload.TestLoops.IN_ORDER;
import static org.restbench.workload.TestLoops.shuffled;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.codec.LogsJson;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.logs.LogsWorkload.LogsRequest;
import org.restbench.workload.logs.LogsWorkload.LogsResult;
import org.restbench.workload.logs.RuleSet.Line;
import org.restbench.workload.logs.RuleSet.Rule;

/** Against lines by hand, rules that are wrong, and lines that mean harm; answers are held in LogsStrategiesTest. */
class LogsWorkloadTest {
    private static final RequestId ID = new RequestId("1", true);
    private static final LogsWorkload LOGS = new LogsWorkload();
    private static final List<Integer> AMOUNTS = List.of(6, 14, 22, 30, 38, 46, 54, 62);
    private static final String HEAD = "2026-03-01T00:00:00.000Z web-01";

    /** One of ours takes up to 13. */
    private static final long MOST_LOOKS = 32;

    /** What fires of R64. */
    private static final Map<String, List<Integer>> BY_HAND = Map.of(
            "",
            List.of(),
            "took 4001 ms",
            List.of(1, 9, 17, 25, 33, 41, 57),
            HEAD + " TRACE sshd[1]: after 9 ms",
            List.of(1, 33),
            "\u00e91234567 kB \ud83d\ude00",
            AMOUNTS,
            "7654321 bytes, 0 keys",
            AMOUNTS,
            "a b c d e f",
            List.of(63),
            HEAD + " FATAL sshd[1]: t took 4001 ms\u2028",
            List.of(0, 1, 9, 17, 25, 33, 40, 41, 48, 57));

    /** Checksum of the answer to R64 and the 1000 lines of seed 1, on which four engines agree. */
    private static final long THOUSAND_LINES = 3635227010L;

    /** What rules look for, and what is around it. */
    private static final List<String> FRAGMENTS = List.of(
            "took ",
            "after ",
            "499",
            "4501",
            " ms",
            "0 keys",
            "1234567 kB",
            "Failed password for user0",
            "42 from 10.1",
            "7.",
            "GET /cart",
            "/items",
            "?id=0123abcd",
            " 503 ",
            "POST /search",
            " db-03 ERROR ",
            "nginx[",
            "512",
            "]: ",
            "deadbeef",
            "-",
            ": ",
            "a",
            "Zz",
            ".",
            "'",
            "=",
            " ",
            HEAD + " FATAL worker[77]: ",
            "\u00e9",
            "\ud83d\ude00",
            "\u2028",
            "\r",
            "\u0085",
            "\0");

    private static long crc(String text) {
        CRC32 crc = new CRC32();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return crc.getValue();
    }

    /** What fires by other rules than those of the service. */
    private static List<Integer> fired(List<Rule> rules, String line) {
        long[] bits = new long[(rules.size() + Long.SIZE - 1) / Long.SIZE];
        LogsWorkload.write(Line.of(line), rules, bits, 0);
        return IntStream.range(0, rules.size())
                .filter(rule -> (bits[rule / Long.SIZE] >> rule & 1) == 1)
                .boxed()
                .toList();
    }

    @Test
    void the_stream_is_the_one_that_the_contract_describes() {
        LinearCongruential draws = new LinearCongruential(2 * 1 + 1);
        assertThat(IntStream.range(0, 6).map(i -> draws.pick(65536)))
                .containsExactly(3, 30870, 22578, 28038, 41884, 56807);
    }

    @ParameterizedTest
    @CsvSource({"R16,3364345114,3", "R64,3386714313,12", "R256,141114057,48", "R1024,1129582503,192"})
    void the_rules_are_drawn_as_the_contract_describes(RuleSet set, long patterns, int threshold) {
        assertThat(crc(set.rules().stream().map(it -> it.pattern().pattern()).collect(Collectors.joining("\n"))))
                .isEqualTo(patterns);
        assertThat(set.threshold()).isEqualTo(threshold);
    }

    @Test
    void the_weights_are_those_of_the_contract() {
        assertThat(RuleSet.R64.rules().stream().mapToInt(Rule::weight).sum()).isEqualTo(196);
    }

    @ParameterizedTest
    @CsvSource({
        "1,1,3510176008",
        "1,10,3850165942",
        "1,100,4278006688",
        "1,1000,954840131",
        "2,100,2301654361",
        "3,100,324983343"
    })
    void the_lines_of_these_tests_are_those_of_the_checksums(long seed, int count, long lines) {
        assertThat(crc(String.join("\n", LogLines.drawn(seed, count)))).isEqualTo(lines);
    }

    @Test
    void a_line_fires_what_was_found_by_hand() {
        BY_HAND.forEach((line, rules) ->
                assertThat(fired(RuleSet.R64.rules(), line)).as(line).isEqualTo(rules));
    }

    private static boolean firesByRe2(Rule rule, Line line) {
        var match = com.google.re2j.Pattern.compile(rule.pattern().pattern()).matcher(line.field(rule.field()));
        return line.level() >= rule.minLevel()
                && match.find()
                && (rule.over() == Rule.ANY || Integer.parseInt(match.group(1)) > rule.over());
    }

    @Test
    void another_engine_finds_the_same_in_any_line() {
        List<Rule> rules = RuleSet.R64.rules();
        Random random = new Random(2022);
        for (int round = 0; round < 300; round++) {
            String line = random.ints(random.nextInt(12), 0, FRAGMENTS.size())
                    .mapToObj(FRAGMENTS::get)
                    .collect(Collectors.joining());
            List<Integer> found = IntStream.range(0, rules.size())
                    .filter(rule -> firesByRe2(rules.get(rule), Line.of(line)))
                    .boxed()
                    .toList();
            assertThat(fired(rules, line)).as(line).isEqualTo(found);
        }
    }

    @Test
    void a_number_has_to_be_larger_than_the_rules() {
        assertThat(atTheLimit(RuleSet.R1024, RuleSet.R1024.rules())).isEmpty();
    }

    /** Lines with a rule's number, or one more, on which that rule does not fire as the set's own does. */
    private static List<String> atTheLimit(RuleSet set, List<Rule> rules) {
        List<String> faults = new ArrayList<>();
        for (int number = 0; number < rules.size(); number++) {
            Rule right = set.rules().get(number);
            if (right.over() != Rule.ANY) {
                String text = right.pattern().pattern().contains("took") ? "took %d ms" : "%d kB";
                for (int more : new int[] {0, 1}) {
                    String line = String.format(text, right.over() + more);
                    if (fired(rules, line).contains(number) != (more == 1)) {
                        faults.add(line);
                    }
                }
            }
        }
        return faults;
    }

    /** What rules in place of R64's get wrong of what these tests know: by hand, at the limits, of a thousand lines. */
    private static List<String> faults(List<Rule> rules) {
        List<String> faults = new ArrayList<>(atTheLimit(RuleSet.R64, rules));
        BY_HAND.keySet().stream()
                .filter(line -> !fired(rules, line).equals(BY_HAND.get(line)))
                .forEach(faults::add);
        LogsRequest request = new LogsRequest(ID, RuleSet.R64, LogLines.drawn(1, 1000));
        byte[] answer = new LogsJson().encode(LogsWorkload.compute(request, rules, IN_ORDER));
        if (crc(new String(answer, StandardCharsets.UTF_8)) != THOUSAND_LINES) {
            faults.add("a thousand lines");
        }
        return faults;
    }

    static List<UnaryOperator<Rule>> mutations() {
        return List.of(
                rule -> rule == RuleSet.R64.rules().get(1) ? over(rule, rule.over() + 1) : rule,
                rule -> rule == RuleSet.R64.rules().get(1) ? over(rule, rule.over() - 1) : rule,
                rule -> new Rule(
                        rule.over() == Rule.ANY ? rule.pattern() : lastOf(rule.pattern()),
                        rule.field(),
                        rule.minLevel(),
                        rule.over(),
                        rule.weight()),
                rule -> new Rule(rule.pattern(), rule.field(), 0, rule.over(), rule.weight()));
    }

    private static Rule over(Rule rule, int number) {
        return new Rule(rule.pattern(), rule.field(), rule.minLevel(), number, rule.weight());
    }

    /** What is before it is passed over greedily. */
    private static Pattern lastOf(Pattern pattern) {
        return Pattern.compile("(?:.*[^0-9]|^)" + pattern.pattern(), Pattern.UNIX_LINES);
    }

    @ParameterizedTest
    @MethodSource("mutations")
    void rules_that_are_wrong_are_found_out(UnaryOperator<Rule> mutation) {
        List<Rule> right = RuleSet.R64.rules();
        assertThat(faults(right)).isEmpty();
        assertThat(faults(right.stream().map(mutation).toList())).isNotEmpty();
    }

    @Test
    void a_threshold_that_is_one_off_is_found_out() {
        LogsResult result = compute(RuleSet.R64, LogLines.drawn(1, 1000), IN_ORDER);
        List<Integer> weights = IntStream.range(0, result.lines())
                .map(line -> result.firedOn(line).stream()
                        .map(rule -> RuleSet.R64.rules().get(rule).weight())
                        .sum())
                .boxed()
                .toList();
        assertThat(weights).contains(11, 12);
        assertThat(result.alerts())
                .containsExactly(IntStream.range(0, result.lines())
                        .filter(line -> weights.get(line) >= 12)
                        .toArray());
    }

    private static LogsResult compute(RuleSet rules, List<String> lines, ParallelLoop loop) {
        return LOGS.compute(new LogsRequest(ID, rules, lines), loop);
    }

    @ParameterizedTest
    @EnumSource(RuleSet.class)
    void any_cut_of_the_loop_finds_the_same(RuleSet rules) {
        List<String> lines = new ArrayList<>(BY_HAND.keySet());
        lines.addAll(LogLines.drawn(1, 50));
        LogsResult uncut = compute(rules, lines, IN_ORDER);
        Random random = new Random(2022);
        for (int round = 0; round < 20; round++) {
            LogsResult cut = compute(rules, lines, shuffled(random));
            assertThat(cut.fired()).isEqualTo(uncut.fired());
            assertThat(cut.counts()).isEqualTo(uncut.counts());
            assertThat(cut.alerts()).isEqualTo(uncut.alerts());
        }
    }

    /** Tells how often a character of it is looked at. */
    private record Watched(String text, long[] looks) implements CharSequence {
        @Override
        public char charAt(int index) {
            looks[0]++;
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int from, int to) {
            return new Watched(text.substring(from, to), looks);
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** That the rule which looks most takes at a line, for each of its characters. */
    private static long mostLooks(List<Rule> rules, String line) {
        return rules.stream().mapToLong(rule -> looks(rule, line)).max().orElseThrow() / line.length();
    }

    private static long looks(Rule rule, String line) {
        long[] looks = {0};
        LogsWorkload.write(Line.of(new Watched(line, looks)), List.of(rule), new long[1], 0);
        return looks[0];
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /cart", "f", "a .", "1234567890", "5"})
    void a_rule_looks_at_a_character_of_a_hostile_line_a_few_times_at_most(String piece) {
        String hostile = piece.equals("5") ? "a " + "5".repeat(4093) + "!" : piece.repeat(4096 / piece.length());
        assertThat(mostLooks(RuleSet.R1024.rules(), hostile)).isBetween(1L, MOST_LOOKS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[0-9a-f]+g", "^[a-z]*[a-z]*[0-9]$"})
    void a_rule_that_goes_back_and_forth_in_a_line_looks_too_often(String pattern) {
        Rule rule = new Rule(Pattern.compile(pattern), Rule.Field.MESSAGE, 0, Rule.ANY, 1);
        assertThat(mostLooks(List.of(rule), "f".repeat(4096))).isGreaterThan(10 * MOST_LOOKS);
    }

    @Test
    void operations_are_characters_and_ends_of_lines_times_rules() {
        LogsRequest request = new LogsRequest(ID, RuleSet.R64, Arrays.asList("", "\u00e9\ud83d\ude00", "abc"));
        assertThat(LOGS.operations(request)).isEqualTo((5 + 3) * 64);
        assertThat(LOGS.kind(request)).isEqualTo("logs");
        assertThat(LOGS.loops(request)).containsExactly(new ParallelLoop.Size(3, 1));
    }
}
