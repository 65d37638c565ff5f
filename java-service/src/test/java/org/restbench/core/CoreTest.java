package org.restbench.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.codec.MatrixJson;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.core.Core.OpenResult;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies;
import org.restbench.execution.Strategies.Technique;
import org.restbench.execution.StrategiesOf;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.matrix.MatrixWorkload;

/** The service without HTTP: the order of its checks, and that a request's place and memory always come back. */
class CoreTest {
    private static final String BODY =
            "{\"requestId\":7,\"matrixOne\":{\"columnCount\":1,\"rows\":[{\"value\":\"2\"}]},"
                    + "\"matrixTwo\":{\"columnCount\":1,\"rows\":[{\"value\":\"3\"}]}}";
    private static final int MAX_BODY_BYTES = 1000;
    private static final long BUDGET_BYTES = 4 << 20;
    private static final int LONG_PAGE_BYTES = (64 << 10) + 1;
    private static final String JSON = "application/json";

    private final Strategies strategies = StrategiesOf.cores(2);
    private final Held held = new Held();
    private final MemoryBudget memory = new MemoryBudget(BUDGET_BYTES);
    private final Admission admission = new Admission(2, "in flight");
    private final Delays delays = new Delays(1000, 2);
    private final Metrics metrics = new Metrics(admission, delays, memory, strategies.adaptive());
    private final Core core = core();

    /** Completes a request when the test says so. */
    private static final class Held implements ExecutionStrategy {
        private final CompletableFuture<byte[]> answer = new CompletableFuture<>();

        @Override
        public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
            return answer.thenApply(bytes -> job.clock().serialize(() -> bytes));
        }
    }

    /** Nothing can be said of it, not even by JUnit, until it is allowed. */
    private static final class Untellable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private volatile boolean allowed;

        @Override
        public synchronized Throwable getCause() {
            if (!allowed) {
                throw this;
            }
            return null;
        }
    }

    private Core core() {
        Workloads workloads =
                Workloads.of(List.of(new CodedWorkload<>(new MatrixWorkload(), new MatrixJson(MAX_BODY_BYTES / 2))));
        List<Technique> techniques = new ArrayList<>(strategies.all());
        techniques.add(new Technique("held", null, "Waits for the test.", Technique.Cuts.TASKS, held));
        Catalogue catalogue = new Catalogue(JsonProtocol.of(workloads), techniques, metrics);
        Pages.Page page = head -> Reply.page("text/plain", Reply.DATA, new byte[] {'x'});
        WorkLimits limits = new WorkLimits(1000, 1000, 1000);
        Pages.Page longPage = head -> Reply.page("text/plain", Reply.DATA, new byte[LONG_PAGE_BYTES]);
        Map<String, Pages.Page> pages = Map.of("/page", page, "/long", longPage);
        return new Core(catalogue, pages, admission, memory, limits, delays, MAX_BODY_BYTES);
    }

    @AfterEach
    void nothing_is_left_held() {
        assertThat(admission.inFlight()).isZero();
        assertThat(memory.heldBytes()).isZero();
        strategies.close();
        metrics.close();
        delays.close();
    }

    private static Head post(String path, long declaredBytes) {
        return new Head("POST", path, null, JSON, declaredBytes, Head.ALWAYS_WANTED, header -> null);
    }

    private static String sent(Reply reply) {
        reply.sent();
        reply.sent();
        String body = new String(reply.body(), StandardCharsets.UTF_8);
        return reply.status() + body.replaceAll(".*\"errorCode\":\"(...)\".*", " $1");
    }

    private String answer(Head head, String body) {
        OpenResult opened = core.open(head);
        if (opened instanceof Reply reply) {
            return sent(reply);
        }
        Exchange exchange = (Exchange) opened;
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        Reply refused = exchange.take(() -> bytes);
        return sent(
                refused != null
                        ? refused
                        : exchange.delayed().thenCompose(over -> exchange.run()).join());
    }

    private Exchange running() {
        Exchange exchange = (Exchange) core.open(post("/matrix/held", 0));
        exchange.run().thenAccept(Reply::sent);
        return exchange;
    }

    @ParameterizedTest
    @CsvSource({
        "GET,/nowhere,text/plain,5000,404 009",
        "GET,/matrix/serial,text/plain,5000,405 009",
        "POST,/matrix/serial,text/plain,5000,415 009",
        "POST,/matrix/serial,application/json,5000,413 007",
        "POST,/matrix/serial,Application/JSON; x=y,5,503 008",
        "POST,/matrix//serial,application/json,5,404 009",
        "POST,//matrix/serial,application/json,5,404 009",
        "POST,/matrix/seria%6C,application/json,5,404 009",
        "POST,/page,application/json,5,405 009",
        "GET,/page,,0,200x"
    })
    void checks_come_in_the_contracts_order_while_all_places_are_taken(
            String method, String path, String type, long declared, String answer) {
        running();
        running();
        assertThat(answer(new Head(method, path, null, type, declared, Head.ALWAYS_WANTED, header -> null), ""))
                .isEqualTo(answer);
        held.answer.complete(new byte[] {'1'});
    }

    @Test
    void a_body_of_unknown_length_is_counted_before_it_is_admitted() {
        running();
        running();
        assertThat(answer(post("/matrix/serial", -1), " ".repeat(MAX_BODY_BYTES + 1)))
                .isEqualTo("413 007");
        assertThat(answer(post("/matrix/serial", -1), "{")).isEqualTo("503 008");
        held.answer.complete(new byte[] {'1'});
        assertThat(answer(post("/matrix/serial", -1), BODY)).isEqualTo("200{\"requestId\":\"7\",\"rows\":[[6]]}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serial", "pinned", "pipeline", "thread-pool", "adaptive"})
    void a_body_in_pieces_of_any_size_is_the_body(String strategy) throws IOException {
        Random random = new Random(7);
        byte[] bytes = BODY.getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < 100; round++) {
            Exchange exchange = (Exchange) core.open(post("/matrix/" + strategy, round % 2 == 0 ? -1 : bytes.length));
            assertThat(taken(exchange, pieces(bytes, 40, random), random)).isNull();
            assertThat(sent(exchange.run().toCompletableFuture().join()))
                    .isEqualTo("200{\"requestId\":\"7\",\"rows\":[[6]]}");
        }
    }

    /** Beyond the limit, without memory, cut off, or whole. */
    @ParameterizedTest
    @ValueSource(strings = {"serial", "pinned", "pipeline", "adaptive"})
    void however_a_body_ends_it_is_answered_once_and_leaves_nothing(String strategy) throws IOException {
        Random random = new Random(11);
        Set<String> answers = new TreeSet<>();
        int rounds = 200;
        for (int round = 0; round < rounds; round++) {
            byte[] body = (BODY + " ".repeat(random.nextInt(MAX_BODY_BYTES))).getBytes(StandardCharsets.UTF_8);
            Head head = post("/matrix/" + strategy, random.nextBoolean() ? -1 : body.length);
            long others = random.nextInt(4) == 0 ? BUDGET_BYTES - 1000 : 0;
            try (MemoryBudget.Hold held = memory.hold(others)) {
                String answer = ended(core.open(head), body, random);
                answers.add(answer.replaceAll("^200.*", "200"));
                assertThat(memory.heldBytes()).isEqualTo(held.bytes());
            }
            assertThat(admission.inFlight()).isZero();
        }
        assertThat(answers).containsExactly("200", "400 002", "413 007", "503 008");
        double counted = metrics.scrape()
                .lines()
                .filter(line -> line.startsWith("restbench_requests_total{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
        assertThat(counted).isEqualTo(rounds);
    }

    /** A third of the bodies that are taken is cut off anywhere. */
    private static String ended(OpenResult opened, byte[] body, Random random) throws IOException {
        if (opened instanceof Reply reply) {
            return sent(reply);
        }
        Exchange exchange = (Exchange) opened;
        int end = random.nextInt(3) == 0 ? random.nextInt(body.length) : body.length;
        Reply refused = taken(exchange, pieces(Arrays.copyOf(body, end), 400, random), random);
        if (refused != null) {
            return sent(refused);
        }
        return sent(
                end < body.length
                        ? exchange.cutOff()
                        : exchange.run().toCompletableFuture().join());
    }

    private static List<byte[]> pieces(byte[] body, int boundBytes, Random random) {
        List<byte[]> pieces = new ArrayList<>();
        for (int from = 0; from < body.length; ) {
            int to = Math.min(body.length, from + random.nextInt(boundBytes));
            pieces.add(Arrays.copyOfRange(body, from, to));
            from = to;
        }
        return pieces;
    }

    /** As an event loop hands over a body, or as a stream does, which reads no further than to the end of a piece. */
    private static Reply taken(Exchange exchange, List<byte[]> pieces, Random random) throws IOException {
        if (random.nextBoolean()) {
            return exchange.takeAll(new SequenceInputStream(Collections.enumeration(
                    pieces.stream().map(ByteArrayInputStream::new).toList())));
        }
        Reply refused = null;
        for (Iterator<byte[]> rest = pieces.iterator(); rest.hasNext() && refused == null; ) {
            refused = exchange.take(rest::next);
        }
        return refused;
    }

    @Test
    void a_stream_that_fails_is_the_frameworks_to_tell() {
        InputStream failing = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("reset");
            }
        };
        Exchange exchange = (Exchange) core.open(post("/matrix/serial", 10));
        assertThatThrownBy(() -> exchange.takeAll(failing)).hasMessage("reset");
        assertThat(sent(exchange.cutOff())).isEqualTo("400 002");
    }

    /** Its place and memory were lost. */
    @Test
    void a_body_for_which_the_server_has_no_memory_is_008_and_gives_back_what_it_had() throws IOException {
        OutOfMemoryError none = new OutOfMemoryError("not really");
        InputStream failing = new InputStream() {
            @Override
            public int read() {
                throw none;
            }
        };
        Exchange stream = (Exchange) core.open(post("/matrix/serial", 10));
        assertThat(sent(stream.takeAll(failing))).isEqualTo("503 008");
        Exchange pieces = (Exchange) core.open(post("/matrix/serial", 10));
        assertThat(sent(pieces.take(() -> {
                    throw none;
                })))
                .isEqualTo("503 008");
    }

    @Test
    void a_body_that_ends_early_is_cut_off_whether_the_framework_sees_it_or_not() {
        Exchange seen = (Exchange) core.open(post("/matrix/serial", 10));
        assertThat(sent(seen.cutOff())).isEqualTo("400 002");
        Exchange unseen = (Exchange) core.open(post("/matrix/serial", 10));
        unseen.take(() -> new byte[] {'{', '}'});
        assertThat(sent(unseen.run().toCompletableFuture().join())).isEqualTo("400 002");
    }

    @Test
    void a_place_and_memory_are_held_until_the_answer_is_sent() {
        Exchange exchange = (Exchange) core.open(post("/matrix/serial", BODY.length()));
        byte[] bytes = BODY.getBytes(StandardCharsets.UTF_8);
        exchange.take(() -> bytes);
        Reply reply = exchange.run().toCompletableFuture().join();
        assertThat(admission.inFlight()).isEqualTo(1);
        assertThat(memory.heldBytes()).isPositive();
        sent(reply);
        assertThat(admission.inFlight()).isZero();
    }

    /** For it a thread waits whose client does not read; a short one is always there. */
    @Test
    void a_long_page_has_a_place_and_memory_until_it_is_sent() {
        Head get = new Head("GET", "/long", null, null, 0, Head.ALWAYS_WANTED, header -> null);
        Reply first = (Reply) core.open(get);
        Reply second = (Reply) core.open(get);
        assertThat(memory.heldBytes()).isEqualTo(4L * LONG_PAGE_BYTES);
        assertThat(answer(get, "")).isEqualTo("503 008");
        assertThat(answer(new Head("GET", "/page", null, null, 0, Head.ALWAYS_WANTED, header -> null), ""))
                .isEqualTo("200x");
        first.sent();
        second.sent();
        MemoryBudget.Hold others = memory.hold(BUDGET_BYTES - LONG_PAGE_BYTES);
        assertThat(answer(get, "")).isEqualTo("503 008");
        others.close();
    }

    /** Its place and memory were lost, and a client that was answered later waited for ever. */
    @Test
    void what_cannot_even_be_refused_is_099_and_gives_back_what_it_had() {
        Untellable untellable = new Untellable();
        try {
            Exchange exchange = (Exchange) core.open(post("/matrix/held", 0));
            CompletableFuture<Reply> answer = exchange.run().toCompletableFuture();
            held.answer.completeExceptionally(untellable);
            assertThat(sent(answer.join())).isEqualTo("500 099");
            assertThat(admission.inFlight()).isZero();
            Exchange refused = (Exchange) core.open(post("/matrix/held", 0));
            assertThat(sent(refused.refused(untellable))).isEqualTo("500 099");
        } finally {
            untellable.allowed = true;
        }
    }

    @ParameterizedTest
    @CsvSource({"422 003,{}", "400 002,[]", "400 002,x"})
    void what_is_wrong_gives_back_what_it_had(String answer, String body) {
        assertThat(answer(post("/matrix/serial", body.length()), body)).isEqualTo(answer);
        assertThat(answer(post("/matrix/pipeline", -1), body)).isEqualTo(answer);
    }

    @Test
    void the_time_that_a_body_takes_to_come_is_no_part_of_server_timing() {
        byte[] bytes = BODY.getBytes(StandardCharsets.UTF_8);
        long opened = System.nanoTime();
        Exchange exchange = (Exchange) core.open(post("/matrix/serial", bytes.length));
        while (System.nanoTime() - opened < 10_000_000) {
            Thread.onSpinWait();
        }
        exchange.take(() -> bytes);
        long whole = System.nanoTime();
        Reply reply = exchange.run().toCompletableFuture().join();
        double ranMillis = (System.nanoTime() - whole) / 1e6;
        double toldMillis = Arrays.stream(reply.headers().get("Server-Timing").split(", "))
                .mapToDouble(part -> Double.parseDouble(part.substring(part.indexOf('=') + 1)))
                .sum();
        assertThat(toldMillis).isLessThan(ranMillis + 0.002); // four numbers are rounded
        sent(reply);
    }

    @Test
    void every_answer_is_counted_by_workload_strategy_and_status() {
        answer(post("/matrix/serial", BODY.length()), BODY);
        answer(post("/matrix/serial", 1), "x");
        answer(new Head("GET", "/matrix/serial", null, null, 0, Head.ALWAYS_WANTED, header -> null), "");
        assertThat(metrics.scrape())
                .contains("restbench_requests_total{status=\"200\",strategy=\"serial\",workload=\"matrix\"} 1.0")
                .contains("restbench_requests_total{status=\"400\",strategy=\"serial\",workload=\"matrix\"} 1.0")
                .contains("restbench_requests_total{status=\"405\",strategy=\"serial\",workload=\"matrix\"} 1.0")
                .contains("jvm_memory_used_bytes", "jvm_threads_states_threads{state=\"runnable\"}")
                .contains("jvm_classes_loaded_classes", "restbench_decisions_total");
    }
}
