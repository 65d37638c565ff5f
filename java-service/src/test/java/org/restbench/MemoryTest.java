package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What requests may hold in memory is bounded, over real HTTP. */
class MemoryTest {
    private static final String HEAD = "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

    @Test
    void what_would_never_fit_is_010_before_it_is_read_or_computed() throws Exception {
        Map<String, String> limit = Map.of("RESTBENCH_MEMORY_BUDGET_BYTES", Integer.toString(4 << 20));
        try (RunningService small = new RunningService(limit)) {
            String announced = RawHttp.first(small, HEAD + "Content-Length: 2000000\r\n\r\n");
            String chunked =
                    RawHttp.first(small, HEAD + "Transfer-Encoding: chunked\r\n\r\n1e8480\r\n" + " ".repeat(2_000_000));
            HttpResponse<String> product = small.post("/matrix/serial", HostileBodies.columnTimesRow(800));
            for (String answer : List.of(announced, chunked, product.statusCode() + " " + product.body())) {
                assertThat(answer).contains("413 ", "\"010\"", "the request needs ", " of memory, the limit is 4 MiB");
            }
            assertThat(small.multiply("serial").body()).isEqualTo(RunningService.PRODUCT);
            assertThat(small.get("/metrics").body()).contains("restbench_memory_held_bytes 0.0");
        }
    }

    /** The first OutOfMemoryError would end the process. */
    @Test
    void a_small_heap_is_never_exhausted_by_bodies_that_grow_when_they_are_read() throws Exception {
        List<String> java = ServiceProcess.java("-Xmx64m", "-XX:+ExitOnOutOfMemoryError");
        ExecutorService clients = Executors.newFixedThreadPool(16);
        Map<String, String> patient = Map.of("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "200");
        try (ServiceProcess service = ServiceProcess.start(patient, java)) {
            Set<Integer> seen = new HashSet<>();
            do { // which of them meet is up to the machine: until some did
                seen.addAll(allAtOnce(service, clients));
            } while (!seen.contains(503));
            assertThat(seen).isSubsetOf(200, 413, 422, 503);
            assertThat(HostileBodies.ALL.stream()
                            .map(body -> service.post("/matrix/serial", body).statusCode()))
                    .as("one at a time")
                    .containsExactly(200, 413, 200, 200, 200, 422);
            service.signal("TERM");
            service.exitCode();
            assertThat(service.output()).noneMatch(line -> line.contains("OutOfMemory") || line.contains("ERROR"));
        } finally {
            clients.shutdownNow();
        }
    }

    /** Each holds its buffers from the first byte on; a large heap's number of them would be the end of this one. */
    @Test
    void a_small_heap_is_never_exhausted_by_connections_in_the_middle_of_a_header() throws Exception {
        List<String> java = ServiceProcess.java("-Xmx64m", "-XX:+ExitOnOutOfMemoryError");
        List<Socket> slow = new ArrayList<>();
        try (ServiceProcess service = ServiceProcess.start(Map.of("RESTBENCH_RECEIVE_TIMEOUT_SECONDS", "2"), java)) {
            for (int i = 0; i < 600; i++) {
                Socket socket = new Socket("127.0.0.1", service.port());
                slow.add(socket);
                socket.getOutputStream().write("POST /matrix/serial HTTP/1.1\r\nX: ".getBytes(StandardCharsets.UTF_8));
            }
            assertThat(service.multiply("serial").body()).isEqualTo(RunningService.PRODUCT);
            service.signal("TERM");
            assertThat(service.exitCode()).isZero();
            assertThat(service.output()).noneMatch(line -> line.contains("OutOfMemory") || line.contains("ERROR"));
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    /** What every hostile body gets under several strategies, as many of them together as there are clients. */
    private static Set<Integer> allAtOnce(ServiceProcess service, ExecutorService clients) {
        List<CompletableFuture<Integer>> statuses = Stream.of("serial", "thread-pool", "pinned", "pipeline")
                .flatMap(strategy -> HostileBodies.ALL.stream()
                        .map(body -> CompletableFuture.supplyAsync(
                                () -> service.post("/matrix/" + strategy, body).statusCode(), clients)))
                .toList();
        return statuses.stream().map(CompletableFuture::join).collect(Collectors.toSet());
    }
}
