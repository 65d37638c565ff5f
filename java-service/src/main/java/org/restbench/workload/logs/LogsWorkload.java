package org.restbench.workload.logs;

import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.logs.RuleSet.Line;
import org.restbench.workload.logs.RuleSet.Rule;

/**
 * Finds the rules that fire on each line of a log, and the lines that are alerts. A unit of the loop is a line; its
 * task writes the line's bit set. Counts and alerts are then computed sequentially.
 */
public final class LogsWorkload implements Workload<LogsWorkload.LogsRequest, LogsWorkload.LogsResult> {
    @Override
    public String name() {
        return "logs";
    }

    /** The number of characters times the number of rules: each rule searches every line. */
    @Override
    public long operations(LogsRequest request) {
        return request.characters() * request.ruleSet().size();
    }

    @Override
    public Bound bound(LogsRequest request) {
        return Bound.LOOP_OPERATIONS;
    }

    @Override
    public List<ParallelLoop.Size> loops(LogsRequest request) {
        return List.of(new ParallelLoop.Size(request.lines().size(), 1));
    }

    /** The bit sets, the alerts, and twice the longest text (each rule on each line): in pieces, and whole. */
    @Override
    public long workingBytes(LogsRequest request) {
        long lines = request.lines().size();
        int rules = request.ruleSet().size();
        long perLine = (long) rules * digits(rules) + digits(lines) + "[],".length();
        long text = lines * perLine + (long) rules * digits(lines);
        return lines * (words(request.ruleSet()) * Long.BYTES + Integer.BYTES) + 2 * text;
    }

    /** The number of characters of a number up to {@code most}, with a comma. */
    private static int digits(long most) {
        return Long.toString(most).length() + 1;
    }

    @Override
    public void open() {
        RuleSet.R1024.rules(); // compiles all rules, which takes as long as many requests
    }

    @Override
    public LogsResult compute(LogsRequest request, ParallelLoop loop) {
        return compute(request, request.ruleSet().rules(), loop);
    }

    /** @param rules as many as the rule set that is asked for has */
    static LogsResult compute(LogsRequest request, List<Rule> rules, ParallelLoop loop) {
        List<String> lines = request.lines();
        int words = words(request.ruleSet());
        long[] fired = new long[lines.size() * words];
        loop.forEach(lines.size(), 1, (from, to) -> {
            for (int line = from; line < to; line++) {
                write(Line.of(lines.get(line)), rules, fired, line * words);
            }
        });
        return totals(request, rules, fired);
    }

    /** Sets the bits of the rules that fire on a line, in the bit set that begins at {@code fired[at]}. */
    static void write(Line line, List<Rule> rules, long[] fired, int at) {
        for (int rule = 0; rule < rules.size(); rule++) {
            if (rules.get(rule).firesOn(line)) {
                fired[at + rule / Long.SIZE] |= 1L << rule;
            }
        }
    }

    private static LogsResult totals(LogsRequest request, List<Rule> rules, long[] fired) {
        int words = words(request.ruleSet());
        int lines = request.lines().size();
        int[] counts = new int[rules.size()];
        int[] alerts = new int[lines];
        int found = 0;
        for (int line = 0; line < lines; line++) {
            int weight = 0;
            for (int word = 0; word < words; word++) {
                for (long left = fired[line * words + word]; left != 0; left &= left - 1) {
                    int rule = word * Long.SIZE + Long.numberOfTrailingZeros(left);
                    counts[rule]++;
                    weight += rules.get(rule).weight();
                }
            }
            if (weight >= request.ruleSet().threshold()) {
                alerts[found++] = line;
            }
        }
        return new LogsResult(request.id(), request.ruleSet(), lines, fired, counts, Arrays.copyOf(alerts, found));
    }

    static int words(RuleSet rules) {
        return (rules.size() + Long.SIZE - 1) / Long.SIZE;
    }

    /**
     * The lines to check, and the rules to check them with.
     *
     * @param lines one or more, none with a line feed in it
     * @param characters code points of all lines, plus one per line: an empty line is checked, too
     */
    public record LogsRequest(RequestId id, RuleSet ruleSet, List<String> lines, long characters) {
        public LogsRequest(RequestId id, RuleSet ruleSet, List<String> lines) {
            this(
                    id,
                    ruleSet,
                    lines,
                    lines.stream()
                            .mapToLong(line -> line.codePointCount(0, line.length()) + 1L)
                            .sum());
        }
    }

    /**
     * Which rules fired on which lines.
     *
     * @param fired a bit set per line, {@link LogsWorkload#words} words each: rule k is bit k mod 64 of word k / 64
     * @param counts for each rule, the number of lines on which it fired
     * @param alerts numbers of the lines that are alerts, ascending
     */
    public record LogsResult(RequestId id, RuleSet ruleSet, int lines, long[] fired, int[] counts, int[] alerts) {
        public BitSet firedOn(int line) {
            int words = LogsWorkload.words(ruleSet);
            return BitSet.valueOf(LongBuffer.wrap(fired, line * words, words));
        }
    }
}
