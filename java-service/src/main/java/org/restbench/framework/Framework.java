package org.restbench.framework;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.restbench.settings.InvalidSetting;
import org.springframework.boot.WebApplicationType;

/**
 * A web framework and its server: what parses HTTP and calls the core.
 *
 * @param name that it is chosen by
 * @param server name and version of what parses HTTP
 * @param kind how Spring starts it
 * @param configuration its beans, a {@link Listener} among them, or that one alone
 * @param hasEventLoop whether all connections share a thread, so that requests need others or share it too
 */
public record Framework(
        String name, String server, WebApplicationType kind, Class<?> configuration, boolean hasEventLoop) {
    /** Connections that wait in the kernel to be accepted: as many under every framework. */
    static final int BACKLOG = 1024;

    /** Largest head of a request where application.yml does not say it. */
    static final int MAX_HEADER_BYTES = 16 << 10;

    /** Longest request line where the server has a limit of its own for it. */
    static final int MAX_LINE_BYTES = 8 << 10;

    /** An answer of so many bytes is handed to the kernel in one piece, which takes it at once: nobody waits for it. */
    static final int SENT_AT_ONCE_BYTES = 16 << 10;

    private static final Pattern SCHEME_AND_AUTHORITY = Pattern.compile("(?i)https?://[^/?]*");

    /**
     * A request's target from its path on, as it was sent: in absolute form, which any server has to take, scheme and
     * authority stand before it.
     */
    static String withoutAuthority(String target) {
        Matcher absolute = SCHEME_AND_AUTHORITY.matcher(target);
        if (target.startsWith("/") || !absolute.lookingAt()) {
            return target;
        }
        String rest = target.substring(absolute.end());
        return rest.startsWith("/") ? rest : "/" + rest;
    }

    /**
     * Where requests run, for {@code /health}.
     *
     * @param asked as in the settings
     * @return null: each on the thread that has received it
     * @throws InvalidSetting where there is no choice
     */
    public String handoff(String asked) {
        if (asked != null && !hasEventLoop) {
            throw new InvalidSetting("RESTBENCH_HANDOFF", asked, "left out: " + name + " has no event loop");
        }
        return hasEventLoop && asked == null ? "thread" : asked;
    }

    /** The server, once it serves. */
    public interface Listener {
        int port();
    }
}
