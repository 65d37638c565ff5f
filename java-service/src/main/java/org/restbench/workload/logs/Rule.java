package org.restbench.workload.logs;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A rule, which fires on a line of at least {@code minLevel} in whose {@code field} the pattern is found.
 *
 * @param minLevel index in {@link Line#LEVELS}
 * @param over what the number in group 1 of the leftmost match must exceed; {@link #ANY} where no number is compared
 * @param weight added up over the rules that fire on a line
 */
record Rule(Pattern pattern, Field field, int minLevel, int over, int weight) {
    /** The value of {@code over} where no number is compared. */
    static final int ANY = -1;

    enum Field {
        LINE,
        SERVICE,
        MESSAGE
    }

    /** Searches a line of sufficient level. Only the level can save the search. */
    boolean firesOn(Line line) {
        if (line.level() < minLevel) {
            return false;
        }
        Matcher match = pattern.matcher(line.field(field));
        return match.find() && (over == ANY || Integer.parseInt(match.group(1)) > over);
    }
}
