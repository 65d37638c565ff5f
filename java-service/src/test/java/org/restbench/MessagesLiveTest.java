package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.QueueCalls.isReplay;
import static org.restbench.QueueCalls.json;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.codec.Workloads;
import org.restbench.workload.messages.MessagesWorkload;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What queues promise, of the whole service with a database: at once, and next to other sessions. */
@ExtendWith(OutputCaptureExtension.class)
class MessagesLiveTest {
    private static final List<String> HOLDING = List.of("SELECT 1 FROM %s FOR UPDATE", "DELETE FROM %s");

    private static final String RETRIES = "restbench_database_retries_total ";

    private static PostgresServer database;
    private static RunningService service;

    private final QueueCalls calls = QueueCalls.fresh(service);

    @BeforeAll
    static void start() {
        database = PostgresServer.running();
        service = new RunningService(PostgresServer.environment(database.port, 20));
    }

    @AfterAll
    static void stop() {
        if (service != null) {
            service.close();
        }
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
        "skip-locked,600",
        "statements,300",
        "function,300",
        "blocking,300",
        "advisory,300",
        "pgmq,300",
        "repeatable-read,60",
        "memory,2000"
    })
    void sixty_clients_pop_each_message_once(String technique, int messages) throws Exception {
        calls.create(technique);
        AtomicInteger next = new AtomicInteger();
        together(20, () -> {
            for (int i = next.getAndIncrement(); i < messages; i = next.getAndIncrement()) {
                json(calls.send("m" + i, null));
            }
        });
        ConcurrentLinkedQueue<String> popped = new ConcurrentLinkedQueue<>();
        together(technique.equals("repeatable-read") ? 8 : 60, () -> {
            while (popped.size() < messages) { // a message that another holds is passed over, or the database gives up
                HttpResponse<String> answer = calls.pop(null);
                if (answer.statusCode() == 503) {
                    assertThat(answer.body()).contains("\"014\"");
                } else if (!json(answer).get("id").isNull()) {
                    popped.add(json(answer).get("body").asString());
                }
            }
        });
        assertThat(popped).hasSize(messages).doesNotHaveDuplicates();
        assertThat(calls.count()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"skip-locked", "statements", "function", "blocking", "advisory", "repeatable-read", "pgmq"})
    void the_same_key_at_once_has_one_effect_and_one_answer(String technique) throws Exception {
        calls.create(technique);
        answeredOnce(() -> calls.send("one", calls.queue()));
        assertThat(calls.count()).isEqualTo(1);
        assertThat(answeredOnce(() -> calls.pop(calls.queue() + "p"))).contains("\"body\":\"one\"");
        answeredOnce(() -> calls.broadcast("two", calls.queue() + "b"));
        assertThat(calls.count()).isEqualTo(1);
    }

    /** The one body of eight answers at once, of which one is the first. */
    private static String answeredOnce(Supplier<HttpResponse<String>> request) throws Exception {
        ConcurrentLinkedQueue<HttpResponse<String>> answers = new ConcurrentLinkedQueue<>();
        together(8, () -> answers.add(request.get()));
        assertThat(answers).extracting(HttpResponse::statusCode).containsOnly(200);
        assertThat(answers)
                .extracting(HttpResponse::body)
                .containsOnly(answers.peek().body());
        assertThat(answers.stream().filter(it -> !isReplay(it))).hasSize(1);
        return answers.peek().body();
    }

    @ParameterizedTest
    @ValueSource(strings = {"skip-locked", "statements", "function", "pgmq"})
    void a_message_that_another_session_holds_is_passed_over(String technique) throws Exception {
        for (String holding : HOLDING) {
            QueueCalls two = two(technique);
            try (Connection other = firstHeld(two, technique, holding)) {
                assertThat(two.popped()).isEqualTo("two");
                other.rollback();
            }
            assertThat(two.popped()).isEqualTo("one");
        }
    }

    /** Where it is gone then, repeatable-read begins its transaction again, which is counted. */
    @ParameterizedTest
    @ValueSource(strings = {"blocking", "repeatable-read"})
    void or_it_is_waited_for(String technique) throws Exception {
        for (String holding : HOLDING) {
            boolean isGone = holding.startsWith("DELETE");
            double before = service.metric(RETRIES);
            QueueCalls two = two(technique);
            try (Connection other = firstHeld(two, technique, holding)) {
                Future<HttpResponse<String>> waiting =
                        database.popThatWaitsFor(two, "transactionid").answer();
                other.commit();
                assertThat(json(waiting.get()).get("body").asString()).isEqualTo(isGone ? "two" : "one");
            }
            assertThat(service.metric(RETRIES) - before)
                    .isEqualTo(isGone && technique.equals("repeatable-read") ? 1 : 0);
        }
    }

    /** It was begun again only 49 times. */
    @Test
    void who_loses_each_time_is_told_so_after_fifty_retries() throws Exception {
        calls.create("repeatable-read");
        json(calls.send("one", null));
        double before = service.metric(RETRIES);
        String id = database.id(calls.queue());
        try (Connection owner = database.connect();
                Statement statement = owner.createStatement()) {
            statement.execute("CREATE FUNCTION messages.lose() RETURNS trigger LANGUAGE plpgsql"
                    + " AS 'BEGIN RAISE serialization_failure; END'");
            try {
                statement.execute("CREATE TRIGGER lose BEFORE DELETE ON messages.message FOR EACH ROW"
                        + " WHEN (OLD.queue_id = " + id + ") EXECUTE FUNCTION messages.lose()");
                assertThat(calls.pop(null).body()).contains("\"014\"");
            } finally {
                statement.execute("DROP FUNCTION messages.lose() CASCADE");
            }
        }
        assertThat(service.metric(RETRIES) - before).isEqualTo(50);
        assertThat(calls.popped()).isEqualTo("one");
    }

    private static QueueCalls two(String technique) {
        QueueCalls two = QueueCalls.fresh(service);
        two.create(technique);
        json(two.send("one", null));
        json(two.send("two", null));
        return two;
    }

    /** By a transaction of another session, which goes on. */
    private static Connection firstHeld(QueueCalls two, String technique, String holding) throws Exception {
        String id = database.id(two.queue());
        String first = technique.equals("pgmq")
                ? "pgmq.q_q" + id + " WHERE message->>'body' = 'one'"
                : "messages.message WHERE queue_id = " + id + " AND body = 'one'";
        Connection other = database.connect();
        other.setAutoCommit(false);
        try (Statement statement = other.createStatement()) {
            statement.execute(String.format(holding, first));
        }
        return other;
    }

    @Test
    void advisory_waits_for_the_lock_of_its_queue() throws Exception {
        calls.create("advisory");
        json(calls.send("three", null));
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT pg_advisory_xact_lock(" + database.id(calls.queue()) + ")");
            Future<HttpResponse<String>> waiting =
                    database.popThatWaitsFor(calls, "advisory").answer();
            assertThat(waiting.isDone()).isFalse();
            other.commit();
            assertThat(json(waiting.get()).get("body").asString()).isEqualTo("three");
        }
    }

    @Test
    void receipts_are_purged_when_they_are_old_enough() throws SQLException, IOException {
        calls.create("skip-locked");
        json(calls.send("one", calls.queue() + "old"));
        json(calls.send("one", calls.queue() + "new"));
        try (Connection owner = database.connect();
                Statement statement = owner.createStatement()) {
            statement.execute(
                    "UPDATE messages.receipt SET at = at - interval '601 s' WHERE key = '" + calls.queue() + "old'");
        }
        purge();
        assertThat(database.query("SELECT key FROM messages.receipt WHERE key LIKE '" + calls.queue() + "%'"))
                .containsExactly(calls.queue() + "new");
    }

    private static void purge() {
        ((MessagesWorkload)
                        service.bean(Workloads.class).byName().get("messages").workload())
                .purge();
    }

    /**
     * Of 10 000, of which each is kept; one that fails is told, and comes again. The service's own comes before or
     * after what is committed here.
     */
    @Test
    void receipts_are_purged_in_batches(CapturedOutput log) throws SQLException, IOException {
        purge();
        String old = " FROM messages.receipt WHERE client = 9000001";
        try (Connection owner = database.connect();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("INSERT INTO messages.receipt SELECT 9000001, n, '', '{}', now() - interval '1 day'"
                    + " FROM generate_series(1, 20001) n");
            ResultSet found = statement.executeQuery("SELECT key" + old + " ORDER BY ctid DESC LIMIT 1");
            found.next();
            statement.execute(
                    "CREATE FUNCTION messages.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF OLD.key = ''"
                            + found.getString(1) + "'' THEN RAISE query_canceled; END IF; RETURN OLD; END'");
            statement.execute("CREATE TRIGGER keep BEFORE DELETE ON messages.receipt FOR EACH ROW"
                    + " EXECUTE FUNCTION messages.keep()");
            owner.commit();
            try {
                purge();
                assertThat(database.query("SELECT count(*)" + old)).containsExactly("1");
            } finally {
                statement.execute("DROP FUNCTION messages.keep() CASCADE");
                owner.commit();
            }
        }
        assertThat(log.getAll()).contains("WARN  MessagesWorkload: receipts are not purged: 57014");
        purge();
        assertThat(database.query("SELECT count(*)" + old)).containsExactly("0");
    }

    @Test
    void memory_asks_no_database_and_says_so() {
        calls.create("memory");
        HttpResponse<String> sent = calls.send("one", null);
        HttpResponse<String> popped = calls.pop(null);
        assertThat(json(popped).get("id")).isEqualTo(json(sent).get("id"));
        for (HttpResponse<String> each : List.of(sent, popped)) {
            assertThat(each.headers().firstValue("Server-Timing").orElseThrow())
                    .matches("queue;dur=\\d.*, serialize;dur=[\\d.]+, connection;dur=0.000, database;dur=0.000");
        }
    }

    /** No other test here asks under this strategy. */
    @Test
    void requests_are_counted_as_of_one_workload_whatever_their_operation() {
        calls.create("skip-locked");
        json(calls.ask("GET", "pinned/queues", ""));
        json(calls.ask("GET", "pinned/queues/" + calls.queue(), ""));
        assertThat(service.get("/metrics").body())
                .contains("restbench_requests_total{status=\"200\",strategy=\"pinned\",workload=\"messages\"} 2.0");
    }

    /** The setting of the planner that statements rely on is the role's. */
    @Test
    void the_service_has_the_rights_of_its_role_alone() {
        assertThat(json(calls.create("skip-locked")).get("created").asBoolean()).isTrue();
        assertThat(database.query(
                        "SELECT DISTINCT usename FROM pg_stat_activity" + " WHERE application_name = 'restbench-java'"))
                .containsExactly("restbench_service");
    }
}
