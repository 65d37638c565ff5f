package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.framework.Framework;
import org.restbench.framework.Frameworks;
import org.restbench.settings.InvalidSetting;
import org.restbench.settings.Settings;
import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.servlet.ServletWebServerFactory;

/** The table of frameworks. The servers of all of them are on one class path. */
class FrameworksTest {
    private static final int JAVA = Runtime.version().feature();

    @Test
    void helidon_is_there_from_java_21_on() {
        assertThat(Frameworks.ALL)
                .extracting(Framework::name)
                .startsWith("tomcat", "servlet", "jetty", "reactor-netty", "vertx")
                .hasSize(JAVA < 21 ? 5 : 6);
    }

    @Test
    void below_java_21_who_chooses_helidon_is_told_why_there_is_none() {
        assumeTrue(JAVA < 21, "this Java has it");
        assertThatThrownBy(() -> Frameworks.named("helidon"))
                .isInstanceOf(InvalidSetting.class)
                .hasMessage("RESTBENCH_FRAMEWORK=helidon: must be one of tomcat, servlet, jetty, reactor-netty, vertx; "
                        + "it needs Java 21, to build the service and to run it");
    }

    /** Spring Boot takes Jetty where it finds both. */
    @ParameterizedTest
    @CsvSource({"tomcat,true", "servlet,true", "jetty,false"})
    void of_two_servlet_containers_the_one_that_is_chosen_starts(String framework, boolean isTomcat) {
        Class<?> expected = isTomcat ? TomcatServletWebServerFactory.class : JettyServletWebServerFactory.class;
        try (RunningService service = RunningService.under(framework, Map.of())) {
            assertThat(service.bean(ServletWebServerFactory.class)).isInstanceOf(expected);
        }
    }

    @Test
    void without_a_choice_it_is_tomcat() {
        assertThat(Frameworks.named(Settings.from(Map.of()).framework()))
                .isEqualTo(Frameworks.ALL.get(0))
                .extracting(Framework::server)
                .asString()
                .startsWith("Tomcat 11.");
    }
}
