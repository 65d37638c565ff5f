package org.restbench.workload.logs;

import java.nio.LongBuffer;
import java.util.BitSet;
import org.restbench.workload.RequestId;

/**
 * Which rules fired on which lines.
 *
 * @param fired a bit set per line, {@link LogsWorkload#words} words each: rule k is bit k mod 64 of word k / 64
 * @param counts for each rule, the number of lines on which it fired
 * @param alerts numbers of the lines whose fired rules reach the weight of an alert, ascending
 */
public record LogsResult(RequestId id, RuleSet ruleSet, int lines, long[] fired, int[] counts, int[] alerts) {
    /** The numbers of the rules that fired on a line. */
    public BitSet firedOn(int line) {
        int words = LogsWorkload.words(ruleSet);
        return BitSet.valueOf(LongBuffer.wrap(fired, line * words, words));
    }
}
