package org.restbench.workload.logs;

import java.nio.LongBuffer;
import java.util.BitSet;
import org.restbench.workload.RequestId;

/**
 * Which rules fired on which lines.
 *
 * @param fired lines × {@link LogsWorkload#words}: rule k is bit k mod 64 of a line's word k / 64
 * @param counts of each rule the lines on which it fired
 * @param alerts numbers of the lines whose rules weigh enough, ascending
 */
public record LogsResult(RequestId id, RuleSet ruleSet, int lines, long[] fired, int[] counts, int[] alerts) {
    /** The numbers of the rules that fired on a line. */
    public BitSet firedOn(int line) {
        int words = LogsWorkload.words(ruleSet);
        return BitSet.valueOf(LongBuffer.wrap(fired, line * words, words));
    }
}
