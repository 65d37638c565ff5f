package org.restbench.workload.logs;

import java.util.List;
import org.restbench.workload.RequestId;

/**
 * Lines to look at, and by which rules.
 *
 * @param lines one or more, none with a line feed in it
 * @param characters code points of all lines, and one more for the end of each: an empty one is looked at, too
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
