package org.restbench.workload.logs;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fires on a line of a level and above, in whose field the pattern is found.
 *
 * @param minLevel index in {@link Line#LEVELS}
 * @param over the number in group 1 of the leftmost match has to be larger; {@link #ANY} where there is none
 * @param weight adds up over a line's rules
 */
record Rule(Pattern pattern, Field field, int minLevel, int over, int weight) {
    /** No number is compared. */
    static final int ANY = -1;

    /** Where a rule looks. */
    enum Field {
        LINE,
        SERVICE,
        MESSAGE
    }

    /** A level spares the search; nothing else does. */
    boolean firesOn(Line line) {
        if (line.level() < minLevel) {
            return false;
        }
        Matcher match = pattern.matcher(line.field(field));
        return match.find() && (over == ANY || Integer.parseInt(match.group(1)) > over);
    }
}
