package org.restbench.framework;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.restbench.settings.Settings.InvalidSetting;
import org.springframework.boot.WebApplicationType;

/**
 * A web framework and its server: what parses HTTP and calls the core.
 *
 * @param name by which the settings choose the framework
 * @param server name and version of the HTTP server
 * @param kind how Spring starts the server
 * @param configuration class with the framework's beans, a {@link Listener} among them, or the class of the listener
 * @param hasEventLoop whether all connections share one thread, so that requests need other threads or share it too
 */
public record Framework(
        String name, String server, WebApplicationType kind, Class<?> configuration, boolean hasEventLoop) {
    /** Connections that may wait in the kernel to be accepted, the same number under every framework. */
    static final int BACKLOG = 1024;

    /** Largest head of a request, for servers that application.yml does not configure. */
    static final int MAX_HEADER_BYTES = 16 << 10;

    /** Longest request line, for servers that have a limit of its own. */
    static final int MAX_LINE_BYTES = 8 << 10;

    /**
     * A reply of at most this size is given to the kernel in one piece, which takes it at once: no thread waits for the
     * client.
     */
    static final int SENT_AT_ONCE_BYTES = 16 << 10;

    private static final Pattern SCHEME_AND_AUTHORITY = Pattern.compile("(?i)https?://[^/?]*");

    /**
     * A request's target from its path on, as it was sent. In the absolute form, which every server has to accept (RFC
     * 9112, section 3.2.2), scheme and authority precede the path.
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
     * @param asked value of the setting, null where it is not set
     * @return {@code thread} or {@code loop}; null where each request runs on the thread that has received it
     * @throws InvalidSetting where there is no choice, as the framework has no event loop
     */
    public String handoff(String asked) {
        if (asked != null && !hasEventLoop) {
            throw new InvalidSetting("RESTBENCH_HANDOFF", asked, "left out: " + name + " has no event loop");
        }
        return hasEventLoop && asked == null ? "thread" : asked;
    }

    /** The server, once it accepts connections. */
    public interface Listener {
        int port();
    }
}
