package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.framework.Framework;
import org.restbench.framework.Frameworks;
import org.restbench.settings.InvalidSetting;

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
    void who_chooses_one_that_is_not_there_is_told_those_there_are() {
        String there = Frameworks.ALL.stream().map(Framework::name).collect(Collectors.joining(", "));
        assertThatThrownBy(() -> Frameworks.named("undertow"))
                .isInstanceOf(InvalidSetting.class)
                .hasMessage("RESTBENCH_FRAMEWORK=undertow: must be one of " + there);
    }

    @Test
    void below_java_21_who_chooses_helidon_is_told_why_there_is_none() {
        assumeTrue(JAVA < 21, "this Java has it");
        assertThatThrownBy(() -> Frameworks.named("helidon"))
                .isInstanceOf(InvalidSetting.class)
                .hasMessage("RESTBENCH_FRAMEWORK=helidon: must be one of tomcat, servlet, jetty, reactor-netty, vertx; "
                        + "it needs Java 21, to build the service and to run it");
    }

    @Test
    void under_helidon_a_request_that_outlasts_an_idle_connection_is_told_that_its_own_ends() throws Exception {
        assumeTrue(JAVA >= 21, "there is no Helidon");
        try (RunningService service = RunningService.under("helidon", Map.of("RESTBENCH_KEEP_ALIVE_SECONDS", "1"))) {
            assertThat(RawHttp.all(service, RawHttp.post("/matrix/serial?delay=1500", RunningService.BODY)))
                    .endsWith(RunningService.PRODUCT)
                    .contains("Connection: close\r\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "vertx,thread,http-vertx-",
        "vertx,loop,vert.x-eventloop-thread-",
        "reactor-netty,thread,http-reactor-",
        "reactor-netty,loop,reactor-loop-"
    })
    void an_event_loop_runs_requests_only_where_it_is_told_to(String framework, String handoff, String thread) {
        Map<String, String> settings = Map.of("RESTBENCH_HANDOFF", handoff);
        try (RunningService service = RunningService.under(framework, settings, new TestWorkloads.Watched())) {
            assertThat(service.get("/health").body()).contains("\"handoff\":\"" + handoff + "\"");
            for (String path : List.of("serial", "serial?delay=1", "pinned", "worker-pool?delay=1")) {
                assertThat(service.multiply(path).body()).isEqualTo(RunningService.PRODUCT);
                assertThat(TestWorkloads.Watched.THREAD.getAndSet(""))
                        .startsWith(path.startsWith("serial") ? thread : path.substring(0, 6));
            }
        }
    }

    @Test
    void where_each_request_has_a_thread_there_is_no_choice_of_one() {
        assertThat(Frameworks.named("tomcat").handoff(null)).isNull();
        assertThat(Frameworks.named("vertx").handoff(null)).isEqualTo("thread");
        assertThatThrownBy(() -> Frameworks.named("tomcat").handoff("loop"))
                .isInstanceOf(InvalidSetting.class)
                .hasMessage("RESTBENCH_HANDOFF=loop: must be left out: tomcat has no event loop");
    }
}
