package org.restbench.workload.logs;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line of a log and its parts.
 *
 * @param level index in {@link #LEVELS}; 0 where the line is not of the usual form
 * @param service empty where the line is not of the usual form
 * @param message what follows the usual form's head, or else the whole line
 */
record Line(CharSequence text, int level, String service, CharSequence message) {
    static final List<String> LEVELS = List.of("DEBUG", "INFO", "WARN", "ERROR", "FATAL");

    private static final Pattern HEAD = Pattern.compile(
            "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z [a-z]+-[0-9]{2} "
                    + "(DEBUG|INFO|WARN|ERROR|FATAL) ([a-z]+)\\[[0-9]{1,5}\\]: ",
            Pattern.UNIX_LINES);

    /** Parses any text without a line feed. */
    static Line of(CharSequence text) {
        Matcher head = HEAD.matcher(text);
        if (!head.find()) {
            return new Line(text, 0, "", text);
        }
        return new Line(
                text, LEVELS.indexOf(head.group(1)), head.group(2), text.subSequence(head.end(), text.length()));
    }

    CharSequence field(Rule.Field field) {
        return switch (field) {
            case LINE -> text;
            case SERVICE -> service;
            case MESSAGE -> message;
        };
    }
}
