package org.restbench.workload.logs;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.restbench.workload.LinearCongruential;
import org.restbench.workload.logs.RuleSet.Line;

/** Lines of a log that a seed draws, as the contract's checksums are of. */
public final class LogLines {
    private static final String[] ROLES = "web api db cache queue auth mail batch".split(" ");
    private static final String[] SERVICES = ("nginx sshd kernel postgres redis payment session search "
                    + "cart billing report gateway worker cron vault proxy")
            .split(" ");
    private static final String[] CODES = "200 201 301 400 401 403 404 409 500 502 503 504".split(" ");
    private static final String[] PATHS =
            "/cart /cart/items /orders /orders/search /login /users/profile /reports/daily /search".split(" ");
    private static final String[] TEMPLATES = {
        "GET {path}?id={hex} {code} took {ms} ms from {ip}",
        "POST {path} {code} took {ms} ms from {ip} user={user}",
        "Failed password for {user} from {ip} port {port} ssh2",
        "Accepted publickey for {user} from {ip} port {port} ssh2",
        "connection to {host}:{port} refused after {ms} ms",
        "Out of memory: killed process {port} ({service}) using {kb} kB",
        "{dev}: I/O error, sector {kb}, retry {digit}",
        "slow query ({ms} ms): SELECT id, total FROM orders WHERE user='{user}' AND state={digit}",
        "certificate of {host}.example.org expires in {two} days",
        "cache miss ratio 0.{two}, {kb} keys, {ms} evictions",
        "transaction {hex}-{hex} rolled back: deadlock with {hex}-{hex}",
        "payload of {kb} bytes: {hex} {hex} {hex} {hex} {hex} {hex} {hex} {hex}"
    };
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w+)}");
    /** Of a hundred, where each level after the first begins. */
    private static final int[] LEVELS_FROM = {30, 75, 90, 98};

    private final LinearCongruential draws;
    private int millis;

    private LogLines(long seed) {
        draws = new LinearCongruential(2 * seed + 1);
    }

    public static List<String> drawn(long seed, int count) {
        LogLines from = new LogLines(seed);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lines.add(from.next());
        }
        return lines;
    }

    private String next() {
        millis += draws.pick(2000);
        String host = drawn("host");
        int hundredth = draws.pick(100);
        int level = 0;
        for (int from : LEVELS_FROM) {
            level += hundredth >= from ? 1 : 0;
        }
        String origin = drawn("service") + "[" + (100 + draws.pick(32000)) + "]: ";
        String message = PLACEHOLDER
                .matcher(TEMPLATES[draws.pick(TEMPLATES.length)])
                .replaceAll(name -> Matcher.quoteReplacement(drawn(name.group(1))));
        String moment = String.format(
                "%02d:%02d:%02d.%03d", millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60, millis % 1000);
        return "2026-03-01T" + moment + "Z " + host + " " + Line.LEVELS.get(level) + " " + origin + message;
    }

    private String drawn(String placeholder) {
        return switch (placeholder) {
            case "path" -> word(PATHS);
            case "hex" -> String.format("%04x%04x", draws.pick(65536), draws.pick(65536));
            case "code" -> word(CODES);
            case "ms" -> "" + draws.pick(5000);
            case "ip" -> "10." + draws.pick(256) + "." + draws.pick(256) + "." + draws.pick(256);
            case "user" -> String.format("user%03d", draws.pick(500));
            case "port" -> "" + (1024 + draws.pick(60000));
            case "host" -> String.format("%s-%02d", word(ROLES), draws.pick(32));
            case "service" -> word(SERVICES);
            case "kb" -> "" + (1000 * draws.pick(1000) + draws.pick(1000));
            case "dev" -> "sd" + "abcdefgh".charAt(draws.pick(8));
            case "digit" -> "" + draws.pick(10);
            case "two" -> String.format("%02d", draws.pick(100));
            default -> throw new IllegalArgumentException(placeholder);
        };
    }

    private String word(String[] words) {
        return words[draws.pick(words.length)];
    }
}
