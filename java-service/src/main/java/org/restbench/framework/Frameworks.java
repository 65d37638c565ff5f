package org.restbench.framework;

import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.catalina.util.ServerInfo;
import org.restbench.settings.InvalidSetting;
import org.springframework.boot.WebApplicationType;

/** The table of frameworks. */
public final class Frameworks {
    private static final String TOMCAT = ServerInfo.getServerInfo().replace("Apache Tomcat/", "Tomcat ");

    /** All of them, the default first. */
    public static final List<Framework> ALL = List.of(
            new Framework("tomcat", TOMCAT, WebApplicationType.SERVLET, TomcatFramework.class),
            new Framework("servlet", TOMCAT, WebApplicationType.SERVLET, ServletFramework.class),
            new Framework("vertx", "Vert.x " + vertxVersion(), WebApplicationType.NONE, VertxFramework.class));

    private Frameworks() {}

    /** @throws InvalidSetting where there is none of this name */
    public static Framework named(String name) {
        String names = ALL.stream().map(Framework::name).collect(Collectors.joining(", "));
        return ALL.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidSetting("RESTBENCH_FRAMEWORK", name, "one of " + names));
    }

    private static String vertxVersion() {
        try (InputStream in = Vertx.class.getResourceAsStream("/META-INF/vertx/vertx-version.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
