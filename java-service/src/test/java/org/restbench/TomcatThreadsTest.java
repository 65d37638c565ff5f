package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.concurrent.ExecutorService;
import org.apache.coyote.AbstractProtocol;
import org.apache.tomcat.util.net.SocketProcessorBase;
import org.junit.jupiter.api.Test;
import org.springframework.boot.tomcat.TomcatWebServer;

/** Tomcat where the system makes no thread more for what a request does later. */
class TomcatThreadsTest {
    /** From now on there are threads for what comes over a connection alone: returns them. */
    private static ExecutorService makeNoMore(RunningService service) {
        AbstractProtocol<?> protocol = (AbstractProtocol<?>)
                ((TomcatWebServer) service.server()).getTomcat().getConnector().getProtocolHandler();
        ExecutorService threads = (ExecutorService) protocol.getExecutor();
        protocol.setExecutor(task -> {
            if (!(task instanceof SocketProcessorBase)) {
                throw new OutOfMemoryError("unable to create native thread: of a test");
            }
            threads.execute(task);
        });
        return threads;
    }

    /** They waited for ever, and their places and memory were lost. */
    @Test
    void a_request_that_gets_no_thread_after_its_delay_or_for_its_large_answer_is_answered() {
        ExecutorService threads;
        try (RunningService service = RunningService.withDefaults()) {
            threads = makeNoMore(service);
            HttpResponse<String> delayed = service.multiply("serial?delay=200");
            assertThat(delayed.statusCode() + delayed.body()).startsWith("503").contains("\"008\"");
            HttpResponse<String> large = service.post("/matrix/pinned", HostileBodies.columnTimesRow(200));
            assertThat(large.statusCode()).isEqualTo(200);
            assertThat(large.body()).hasSizeGreaterThan(80_000).endsWith("]]}");
            assertThat(service.get("/metrics").body())
                    .contains("restbench_requests_in_flight 0.0", "restbench_memory_held_bytes 0.0");
        }
        threads.shutdown(); // Tomcat ends only those that it was not given
    }
}
