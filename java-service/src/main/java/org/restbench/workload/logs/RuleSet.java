package org.restbench.workload.logs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.logs.RuleSet.Rule.Field;

/**
 * A set of rules: the first ones of a list that each process draws once. Rule k is of kind k mod 8; the parameters of
 * all rules are drawn from one stream of random numbers. The patterns use only what every engine of regular expressions
 * reads alike (ASCII literals and classes, greedy counts, one group, {@code ^} and {@code $}). The time of a search is
 * proportional to the line's length, whatever the line contains.
 */
public enum RuleSet {
    R16(16),
    R64(64),
    R256(256),
    R1024(1024);

    private static final int SEED = 2022;
    private static final int KINDS = 8;

    /** The weight from which on a line is an alert, per 16 rules of the set. */
    private static final int ALERT_PER_16_RULES = 3;

    private final int size;

    RuleSet(int size) {
        this.size = size;
    }

    public int size() {
        return size;
    }

    int threshold() {
        return ALERT_PER_16_RULES * size / 16;
    }

    List<Rule> rules() {
        return LazyRules.RULES.subList(0, size);
    }

    /** Initialised when the rules are first used. */
    private static final class LazyRules {
        private static final String[] SERVICES = ("nginx sshd kernel postgres redis payment session search "
                        + "cart billing report gateway worker cron vault proxy")
                .split(" ");
        private static final String[] ROLES = "web api db cache queue auth mail batch".split(" ");
        private static final String[] PATHS =
                "/cart /cart/items /orders /orders/search /login /users/profile /reports/daily /search".split(" ");

        private static final List<Rule> RULES = new LazyRules().draw();

        private final LinearCongruential draws = new LinearCongruential(2 * SEED + 1);

        /** Compiled patterns by text. Rules with the same pattern share it, but each searches on its own. */
        private final Map<String, Pattern> compiled = new HashMap<>();

        private List<Rule> draw() {
            int most = Arrays.stream(values()).mapToInt(RuleSet::size).max().orElseThrow();
            List<Rule> rules = new ArrayList<>(most);
            while (rules.size() < most) {
                rules.add(ofKind(rules.size() % KINDS));
            }
            return List.copyOf(rules);
        }

        private Rule ofKind(int kind) {
            return switch (kind) {
                case 0 -> service();
                case 1 -> number("(?:took|after) ([0-9]{1,6}) ms", 500 * draws.pick(10));
                case 2 -> login();
                case 3 -> request();
                case 4 -> host();
                case 5 -> message("[0-9a-f]{5}" + hexDigit() + hexDigit() + "[0-9a-f](?:-[0-9a-f]{8})?");
                case 6 -> number("([0-9]{1,7}) (?:kB|bytes|keys)", 10_000 * draws.pick(100));
                default -> message("^[A-Za-z]+(?:[ .=:,'/(-]+[A-Za-z0-9]+){" + (5 + draws.pick(8)) + "}[^A-Za-z0-9]*$");
            };
        }

        private Rule service() {
            String pattern = "^(?:" + word(SERVICES) + "|" + word(SERVICES) + ")$";
            return rule(pattern, Field.SERVICE, 2 + draws.pick(3), Rule.ANY);
        }

        private Rule login() {
            int user = draws.pick(5);
            int network = 1 + draws.pick(9);
            return message(
                    "(?:Failed|Accepted) [a-z]+ for user" + user + "[0-9]{2} from 10\\." + network + "[0-9]{0,2}\\.");
        }

        private Rule request() {
            String path = word(PATHS);
            int status = 2 + draws.pick(4);
            return message("(?:GET|POST) " + path + "[/a-z]*(?:\\?id=[0-9a-f]{8})? " + status + "[0-9]{2} ");
        }

        private Rule host() {
            String role = word(ROLES);
            int digit = 1 + draws.pick(9);
            String pattern = " " + role + "-[0-9]{2} (?:WARN|ERROR|FATAL) [a-z]+\\[" + digit + "[0-9]{1,4}\\]: ";
            return rule(pattern, Field.LINE, 0, Rule.ANY);
        }

        private Rule message(String pattern) {
            return rule(pattern, Field.MESSAGE, 0, Rule.ANY);
        }

        private Rule number(String pattern, int over) {
            return rule(pattern, Field.MESSAGE, 0, over);
        }

        /** The weight is drawn after the parameters of the kind. */
        private Rule rule(String pattern, Field field, int minLevel, int over) {
            Pattern of = compiled.computeIfAbsent(pattern, text -> Pattern.compile(text, Pattern.UNIX_LINES));
            return new Rule(of, field, minLevel, over, 1 + draws.pick(5));
        }

        private String word(String[] words) {
            return words[draws.pick(words.length)];
        }

        private String hexDigit() {
            return Integer.toHexString(draws.pick(16));
        }
    }

    /**
     * A rule, which fires on a line of at least {@code minLevel} in whose {@code field} the pattern is found.
     *
     * @param minLevel index in {@link Line#LEVELS}
     * @param over what the number in group 1 of the leftmost match must exceed; {@link #ANY} where no number is
     *     compared
     * @param weight added up over the rules that fire on a line
     */
    record Rule(Pattern pattern, Field field, int minLevel, int over, int weight) {
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

    /**
     * A line of a log; where it is not of the usual form, it is all message, of level 0 and no service.
     *
     * @param level index in {@link #LEVELS}
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
}
