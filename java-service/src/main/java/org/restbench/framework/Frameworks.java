package org.restbench.framework;

import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.catalina.util.ServerInfo;
import org.eclipse.jetty.util.Jetty;
import org.restbench.settings.Settings.InvalidSetting;
import org.springframework.boot.WebApplicationType;
import reactor.netty.http.server.HttpServer;

/** The table of frameworks. */
public final class Frameworks {
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

    private Frameworks() {}

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

    /**
     * Looks the classes up by name, as they are missing where an older JDK has built the service, and an older Java
     * cannot load them. Empty in both cases.
     */
    private static Optional<Framework> onJava21(String name, String server, String library, String configuration) {
        try {
            String version = versionOf(Class.forName(library));
            String ours = Frameworks.class.getPackageName() + "." + configuration;
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
}
