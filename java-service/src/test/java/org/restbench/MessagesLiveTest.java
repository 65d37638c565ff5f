package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.BreakingProxy.Moment;
import org.restbench.codec.Workloads;
import org.restbench.workload.messages.MessagesWorkload;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;

/** What queues promise, of the whole service with a database: at once, across services, and when connections break. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class MessagesLiveTest {
    private static final String WITH_RECEIPTS =
            "skip-locked,statements,function,blocking,advisory,repeatable-read,pgmq";

    private final PostgresServer database = PostgresServer.running();
    private final String queue = "x" + UUID.randomUUID().toString().substring(0, 8);
    private RunningService service;

    @BeforeEach
    void start() {
        service = RunningService.under("tomcat", database.environment());
    }

    @AfterEach
    void stop() {
        service.close();
    }

    private static HttpResponse<String> ask(RunningService service, String method, String path, String body) {
        return service.send(service.to("/messages/" + path)
                .header("Content-Type", "application/json")
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build());
    }

    private HttpResponse<String> create(String technique) {
        return ask(
                service,
                "POST",
                "serial/queues",
                String.format("{\"requestId\":1,\"queue\":\"%s\",\"technique\":\"%s\"}", queue, technique));
    }

    private HttpResponse<String> send(RunningService by, String body, String key) {
        String keyed = key == null ? "" : ",\"key\":\"" + key + "\"";
        return ask(
                by,
                "POST",
                "worker-pool/queues/" + queue + "/messages",
                String.format("{\"requestId\":1,\"sender\":3,\"body\":\"%s\"%s}", body, keyed));
    }

    private HttpResponse<String> pop(RunningService by, String key) {
        String keyed = key == null ? "" : ",\"key\":\"" + key + "\"";
        return ask(by, "POST", "worker-pool/queues/" + queue + "/pop", "{\"requestId\":1,\"client\":3" + keyed + "}");
    }

    private static JsonNode json(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return ContractExample.JSON.readTree(answer.body());
    }

    private long count() {
        return json(ask(service, "GET", "serial/queues/" + queue, ""))
                .get("messages")
                .asLong();
    }

    private static boolean isReplay(HttpResponse<String> answer) {
        return answer.headers().firstValue("Idempotent-Replayed").isPresent();
    }

    /** All begun, then all waited for. */
    private static void together(int clients, ThrowingRunnable work) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        CountDownLatch ready = new CountDownLatch(clients);
        List<Future<?>> done = IntStream.range(0, clients)
                .<Future<?>>mapToObj(i -> threads.submit(() -> {
                    ready.countDown();
                    ready.await();
                    work.run();
                    return null;
                }))
                .toList();
        threads.shutdown();
        for (Future<?> each : done) {
            each.get(200, TimeUnit.SECONDS);
        }
    }

    @FunctionalInterface
    private interface ThrowingRunnable {
        void run() throws Exception;
    }

    @ParameterizedTest
    @CsvSource({
        "skip-locked,2000",
        "statements,300",
        "function,300",
        "blocking,300",
        "advisory,300",
        "pgmq,300",
        "repeatable-read,60",
        "memory,2000"
    })
    void sixty_clients_pop_each_message_once(String technique, int messages) throws Exception {
        create(technique);
        AtomicInteger next = new AtomicInteger();
        together(20, () -> {
            for (int i = next.getAndIncrement(); i < messages; i = next.getAndIncrement()) {
                json(send(service, "m" + i, null));
            }
        });
        ConcurrentLinkedQueue<String> popped = new ConcurrentLinkedQueue<>();
        together(technique.equals("repeatable-read") ? 8 : 60, () -> {
            while (popped.size() < messages) { // a message that another holds is passed over, or the database gives up
                HttpResponse<String> answer = pop(service, null);
                if (answer.statusCode() == 503) {
                    assertThat(answer.body()).contains("\"014\"");
                } else if (!json(answer).get("id").isNull()) {
                    popped.add(json(answer).get("body").asString());
                }
            }
        });
        assertThat(popped).hasSize(messages).doesNotHaveDuplicates();
        assertThat(count()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"skip-locked", "statements", "function", "blocking", "advisory", "repeatable-read", "pgmq"})
    void the_same_key_at_once_has_one_effect_and_one_answer(String technique) throws Exception {
        create(technique);
        ConcurrentLinkedQueue<HttpResponse<String>> sent = new ConcurrentLinkedQueue<>();
        together(8, () -> sent.add(send(service, "one", queue)));
        assertThat(sent)
                .extracting(it -> json(it).get("id").asLong())
                .containsOnly(json(sent.peek()).get("id").asLong());
        assertThat(sent.stream().filter(it -> !isReplay(it))).hasSize(1);
        assertThat(count()).isEqualTo(1);
        ConcurrentLinkedQueue<HttpResponse<String>> popped = new ConcurrentLinkedQueue<>();
        together(8, () -> popped.add(pop(service, queue + "p")));
        assertThat(popped)
                .extracting(HttpResponse::body)
                .containsOnly(popped.peek().body());
        assertThat(popped.peek().body()).contains("\"body\":\"one\"");
        assertThat(popped.stream().filter(it -> !isReplay(it))).hasSize(1);
    }

    @Test
    void a_retry_may_go_to_another_service() {
        create("skip-locked");
        try (RunningService other = RunningService.under("tomcat", database.environment())) {
            JsonNode id = json(send(service, "one", queue)).get("id");
            HttpResponse<String> replay = send(other, "one", queue);
            assertThat(isReplay(replay)).isTrue();
            assertThat(json(replay).get("id")).isEqualTo(id);
            assertThat(send(other, "two", queue).body()).contains("\"013\"");
            ask(other, "DELETE", "serial/queues/" + queue, "");
            assertThat(pop(service, null).body()).as("its cache is asked again").contains("\"012\"");
            create("pgmq");
            assertThat(json(send(other, "three", null)).get("id").isNumber()).isTrue();
            assertThat(json(pop(service, null)).get("body").asString()).isEqualTo("three");
        }
    }

    @Test
    void without_room_a_send_is_refused_and_what_was_sent_before_is_answered_once_more() {
        create("skip-locked");
        JsonNode id = json(send(service, "one", queue)).get("id");
        try (RunningService full = RunningService.under("tomcat", database.environmentWithoutRoom())) {
            requireBroken(send(full, "two", null), true);
            requireBroken(send(full, "two", queue + "two"), true);
            HttpResponse<String> replay = send(full, "one", queue);
            assertThat(isReplay(replay)).isTrue();
            assertThat(json(replay).get("id")).isEqualTo(id);
            assertThat(send(full, "other", queue).body()).contains("\"013\"");
            assertThat(count()).isEqualTo(1);
            assertThat(json(pop(full, null)).get("id")).isEqualTo(id);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {WITH_RECEIPTS})
    void an_outcome_is_unknown_only_after_what_decides_was_sent(String techniques) throws IOException {
        BreakingProxy proxy = new BreakingProxy(database.port);
        try (RunningService through = RunningService.under("tomcat", PostgresServer.environment(proxy.port(), 1))) {
            for (String technique : techniques.split(",")) {
                ask(service, "DELETE", "serial/queues/" + queue, "");
                create(technique);
                pop(through, null); // it learns that the queue is another now
                for (Moment moment : Moment.values()) {
                    String key = technique + moment + queue;
                    boolean isTransaction = technique.equals("statements");
                    MessagesContractTest.reconnect(proxy, through);
                    proxy.breakNext(moment);
                    requireBroken(send(through, "one", key), moment == Moment.BEFORE && isTransaction);
                    assertThat(count()).as(key).isEqualTo(moment == Moment.AFTER ? 1 : 0);
                    MessagesContractTest.awaitDatabase(through);
                    assertThat(isReplay(send(through, "one", key))).isEqualTo(moment == Moment.AFTER);
                    assertThat(count()).as(key).isEqualTo(1);

                    isTransaction |= technique.equals("advisory") || technique.equals("repeatable-read");
                    MessagesContractTest.reconnect(proxy, through);
                    proxy.breakNext(moment);
                    requireBroken(pop(through, key + "p"), moment == Moment.BEFORE && isTransaction);
                    assertThat(count()).as(key).isEqualTo(moment == Moment.AFTER ? 0 : 1);
                    MessagesContractTest.awaitDatabase(through);
                    HttpResponse<String> again = pop(through, key + "p");
                    assertThat(json(again).get("body").asString()).isEqualTo("one");
                    assertThat(isReplay(again)).isEqualTo(moment == Moment.AFTER);
                    assertThat(count()).as(key).isZero();
                }
            }
        } finally {
            proxy.close();
        }
    }

    @Test
    void a_database_that_falls_silent_leaves_it_unknown_and_a_key_tells() throws IOException {
        create("skip-locked");
        BreakingProxy proxy = new BreakingProxy(database.port);
        try (RunningService through = RunningService.under("tomcat", PostgresServer.environment(proxy.port(), 1))) {
            MessagesContractTest.reconnect(proxy, through);
            proxy.silenceNext();
            requireBroken(send(through, "one", queue), false);
            MessagesContractTest.awaitDatabase(through);
            assertThat(isReplay(send(through, "one", queue))).isTrue();
            assertThat(count()).isEqualTo(1);
        } finally {
            proxy.close();
        }
    }

    private static void requireBroken(HttpResponse<String> answer, boolean isNotDone) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(answer.body()).contains(isNotDone ? "\"014\"" : "\"015\"");
    }

    @Test
    void a_server_that_is_shutting_down_has_maybe_done_it_and_one_that_refuses_has_not() throws Exception {
        create("blocking");
        json(send(service, "one", null));
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM messages.message WHERE queue_id = " + id() + " FOR UPDATE");
            Future<HttpResponse<String>> waiting =
                    Executors.newSingleThreadExecutor().submit(() -> pop(service, null));
            List<String> blocked;
            do {
                blocked = database.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'restbench-java'"
                        + " AND wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple')");
            } while (blocked.isEmpty());
            database.query("SELECT pg_terminate_backend(" + blocked.get(0) + ")");
            requireBroken(waiting.get(), false); // 57P01 is FATAL
            requireBroken(pop(service, null), true); // the other's lock outlasts the statement's five seconds: an ERROR
        }
        assertThat(json(pop(service, null)).get("body").asString()).isEqualTo("one");
    }

    private String id() {
        return database.query("SELECT id FROM messages.queue WHERE name = '" + queue + "'")
                .get(0);
    }

    @Test
    void repeatable_read_counts_the_transactions_that_it_begins_again() throws Exception {
        create("repeatable-read");
        json(send(service, "one", null));
        json(send(service, "two", null));
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("DELETE FROM messages.message WHERE queue_id = " + id() + " AND body = 'one'");
            Future<HttpResponse<String>> waiting =
                    Executors.newSingleThreadExecutor().submit(() -> pop(service, null));
            while (database.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'restbench-java'"
                            + " AND wait_event_type = 'Lock'")
                    .isEmpty()) {
                Thread.onSpinWait();
            }
            other.commit();
            assertThat(json(waiting.get()).get("body").asString()).isEqualTo("two");
        }
        assertThat(service.get("/metrics").body()).contains("restbench_database_retries_total 1.0");
    }

    @Test
    void advisory_waits_for_the_lock_of_its_queue_and_skip_locked_passes_over_a_message_that_is_held()
            throws Exception {
        create("skip-locked");
        json(send(service, "one", null));
        json(send(service, "two", null));
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute(
                    "SELECT 1 FROM messages.message WHERE queue_id = " + id() + " AND body = 'one' FOR UPDATE");
            assertThat(json(pop(service, null)).get("body").asString()).isEqualTo("two");
        }
        ask(service, "DELETE", "serial/queues/" + queue, "");
        create("advisory");
        json(send(service, "three", null));
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT pg_advisory_xact_lock(" + id() + ")");
            Future<HttpResponse<String>> waiting =
                    Executors.newSingleThreadExecutor().submit(() -> pop(service, null));
            while (database.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'restbench-java'"
                            + " AND wait_event = 'advisory'")
                    .isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(waiting.isDone()).isFalse();
            other.commit();
            assertThat(json(waiting.get()).get("body").asString()).isEqualTo("three");
        }
    }

    @Test
    void receipts_are_purged_when_they_are_old_enough() throws SQLException, IOException {
        create("skip-locked");
        json(send(service, "one", queue + "old"));
        json(send(service, "one", queue + "new"));
        try (Connection owner = database.connect();
                Statement statement = owner.createStatement()) {
            statement.execute("UPDATE messages.receipt SET at = at - interval '601 s' WHERE key = '" + queue + "old'");
        }
        ((MessagesWorkload)
                        service.bean(Workloads.class).byName().get("messages").workload())
                .purge();
        assertThat(database.query("SELECT key FROM messages.receipt WHERE key LIKE '" + queue + "%'"))
                .containsExactly(queue + "new");
    }

    @Test
    void memory_asks_no_database_and_says_so() {
        create("memory");
        HttpResponse<String> sent = send(service, "one", null);
        HttpResponse<String> popped = pop(service, null);
        assertThat(json(popped).get("id")).isEqualTo(json(sent).get("id"));
        for (HttpResponse<String> each : List.of(sent, popped)) {
            assertThat(each.headers().firstValue("Server-Timing").orElseThrow())
                    .matches("queue;dur=\\d.*, serialize;dur=[\\d.]+, connection;dur=0.000, database;dur=0.000");
        }
    }

    @Test
    void requests_are_counted_as_of_one_workload_whatever_their_operation() {
        create("skip-locked");
        json(ask(service, "GET", "pinned/queues", ""));
        json(ask(service, "GET", "pinned/queues/" + queue, ""));
        assertThat(service.get("/metrics").body())
                .contains("restbench_requests_total{status=\"200\",strategy=\"pinned\",workload=\"messages\"} 2.0");
    }

    @Test
    void no_text_of_a_request_becomes_sql_and_none_is_in_the_log(CapturedOutput log) throws Exception {
        String sql = "'; DROP TABLE messages.message; --";
        create("skip-locked");
        for (String body : List.of(sql, "' OR 1=1 --", ":queue_id", "$1 ?")) {
            json(send(service, body, null));
            assertThat(json(pop(service, null)).get("body").asString()).isEqualTo(body);
        }
        for (String member : List.of("queue", "technique", "key", "sender", "receiver", "client")) {
            ask(
                    service,
                    "POST",
                    "serial/queues/" + queue + "/messages",
                    "{\"requestId\":1,\"sender\":3,\"body\":\"x\",\"" + member + "\":\"" + sql + "\"}");
        }
        assertThat(database.query("SELECT count(*) FROM messages.message WHERE queue_id = " + id()))
                .isNotEmpty();
        create("blocking"); // refused, and what breaks is logged
        database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                + " WHERE application_name = 'restbench-java'");
        while (send(service, "SECRET", null).statusCode() != 200) {
            Thread.onSpinWait();
        }
        assertThat(log.getAll())
                .doesNotContain("DROP TABLE", "SECRET", "terminating", "messages.message", "org.postgresql");
    }

    /** The setting of the planner that statements rely on is the role's. */
    @Test
    void the_service_has_the_rights_of_its_role_alone() throws SQLException, IOException {
        assertThat(json(create("skip-locked")).get("created").asBoolean()).isTrue();
        try (Connection owner = database.connect();
                ResultSet roles = owner.createStatement()
                        .executeQuery("SELECT DISTINCT usename FROM pg_stat_activity"
                                + " WHERE application_name = 'restbench-java'")) {
            assertThat(roles.next()).isTrue();
            assertThat(roles.getString(1)).isEqualTo("restbench_service");
            assertThat(roles.next()).isFalse();
        }
    }
}
