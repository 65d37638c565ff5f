package org.restbench.workload.logs;

import java.util.List;
import org.restbench.workload.RequestId;

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
