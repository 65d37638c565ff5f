package org.restbench.framework;

import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.catalina.util.ServerInfo;
import org.eclipse.jetty.util.Jetty;
import org.restbench.settings.Settings.InvalidSetting;
import org.springframework.boot.WebApplicationType;
import reactor.netty.http.server.HttpServer;

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

    /** The kernel takes a reply of at most this size at once, so that no thread waits for the client. */
    static final int SENT_AT_ONCE_BYTES = 16 << 10;

    private static final Pattern SCHEME_AND_AUTHORITY = Pattern.compile("(?i)https?://[^/?]*");

    private static final String TOMCAT = ServerInfo.getServerInfo().replace("Apache Tomcat/", "Tomcat ");
    private static final String NEEDS_JAVA_21 = "helidon";

    /** All frameworks that this build and this Java support, the default first. */
    public static final List<Framework> ALL = Stream.of(
                    servlet("tomcat", TOMCAT, TomcatFramework.class),
                    servlet("servlet", TOMCAT, ServletFramework.class),
                    servlet("jetty", "Jetty " + Jetty.VERSION, JettyFramework.class),
                    eventLoop(
                            "reactor-netty",
                            "Reactor Netty " + versionOf(HttpServer.class),
                            ReactorNettyFramework.class),
                    eventLoop("vertx", "Vert.x " + versionOf(Vertx.class), VertxFramework.class),
                    onJava21(NEEDS_JAVA_21, "Helidon ", "io.helidon.webserver.WebServer", "HelidonFramework"))
            .flatMap(Optional::stream)
            .toList();

    /** @throws InvalidSetting where no framework has this name */
    public static Framework named(String name) {
        String names = ALL.stream().map(Framework::name).collect(Collectors.joining(", "));
        String why = name.equals(NEEDS_JAVA_21) ? "; it needs Java 21, to build the service and to run it" : "";
        return ALL.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidSetting("RESTBENCH_FRAMEWORK", name, "one of " + names + why));
    }

    private static Optional<Framework> servlet(String name, String server, Class<?> configuration) {
        return Optional.of(new Framework(name, server, WebApplicationType.SERVLET, configuration, false));
    }

    private static Optional<Framework> eventLoop(String name, String server, Class<?> configuration) {
        return Optional.of(new Framework(name, server, WebApplicationType.NONE, configuration, true));
    }

    /** Empty where an older JDK has built the service, or an older Java runs it: the classes are missing. */
    private static Optional<Framework> onJava21(String name, String server, String library, String configuration) {
        try {
            String version = versionOf(Class.forName(library));
            String ours = Framework.class.getPackageName() + "." + configuration;
            return Optional.of(
                    new Framework(name, server + version, WebApplicationType.NONE, Class.forName(ours), false));
        } catch (ClassNotFoundException | UnsupportedClassVersionError olderJava) {
            return Optional.empty();
        }
    }

    /** The version in the manifest of the class's jar. */
    private static String versionOf(Class<?> type) {
        return type.getPackage().getImplementationVersion();
    }

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
