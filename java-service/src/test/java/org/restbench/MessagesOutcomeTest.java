package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.QueueCalls.isReplay;
import static org.restbench.QueueCalls.json;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.BreakingProxy.Moment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What is answered, and what is done, when connections break or there is no room; and what another service knows. */
@ExtendWith(OutputCaptureExtension.class)
class MessagesOutcomeTest {
    private static PostgresServer database;
    private static RunningService service;

    private final QueueCalls calls = QueueCalls.fresh(service);

    /** With one connection: none that a test has ended is left for the next test. */
    @BeforeAll
    static void start() {
        database = PostgresServer.running();
        service = new RunningService(PostgresServer.environment(database.port, 1));
        service.awaitDatabase();
    }

    @AfterAll
    static void stop() {
        if (service != null) {
            service.close();
        }
    }

    @Test
    void a_retry_may_go_to_another_service() {
        calls.create("skip-locked");
        try (RunningService other = new RunningService(database.environment())) {
            QueueCalls elsewhere = calls.by(other);
            JsonNode id = json(calls.send("one", calls.queue())).get("id");
            HttpResponse<String> replay = elsewhere.send("one", calls.queue());
            assertThat(isReplay(replay)).isTrue();
            assertThat(json(replay).get("id")).isEqualTo(id);
            assertThat(elsewhere.send("two", calls.queue()).body()).contains("\"013\"");
            elsewhere.delete();
            assertThat(calls.pop(null).body()).as("its cache is asked again").contains("\"012\"");
            calls.create("pgmq");
            assertThat(json(elsewhere.send("three", null)).get("id").isNumber()).isTrue();
            assertThat(calls.popped()).isEqualTo("three");
            elsewhere.delete();
            elsewhere.create("skip-locked");
            assertThat(calls.send("four", 7).body()).as("it has receivers now").contains("\"id\"");
        }
    }

    @Test
    void a_broadcast_names_the_first_queue_that_is_gone() {
        calls.create("skip-locked");
        try (RunningService other = new RunningService(database.environment())) {
            calls.by(other).delete();
        }
        String to = String.format("\"queues\":[\"%s\",\"%sb\"]", calls.queue(), calls.queue());
        String message = "{\"requestId\":1,\"sender\":3,\"body\":\"x\"," + to + "}";
        assertThat(calls.ask("POST", "serial/broadcast", message).body()).contains("queues[0]: does not exist");
    }

    @Test
    void without_room_a_send_is_refused_and_what_was_sent_before_is_answered_once_more() {
        calls.create("skip-locked");
        JsonNode id = json(calls.send("one", calls.queue())).get("id");
        try (RunningService full = new RunningService(database.environmentWithoutRoom())) {
            QueueCalls there = calls.by(full);
            requireBroken(there.send("two", null), true);
            requireBroken(there.send("two", calls.queue() + "two"), true);
            HttpResponse<String> replay = there.send("one", calls.queue());
            assertThat(isReplay(replay)).isTrue();
            assertThat(json(replay).get("id")).isEqualTo(id);
            assertThat(there.send("other", calls.queue()).body()).contains("\"013\"");
            assertThat(calls.count()).isEqualTo(1);
            assertThat(json(there.pop(null)).get("id")).isEqualTo(id);
        }
    }

    @Test
    void an_outcome_is_unknown_only_after_what_decides_was_sent() throws IOException {
        try (BreakingProxy proxy = new BreakingProxy(database.port);
                RunningService through = proxy.service()) {
            for (String technique : MessagesContractTest.OF_THE_DATABASE) {
                for (Moment moment : Moment.values()) {
                    breakAndAskAgain(technique, proxy, moment, through);
                }
            }
        }
    }

    private void breakAndAskAgain(String technique, BreakingProxy proxy, Moment moment, RunningService through) {
        QueueCalls direct = QueueCalls.fresh(service);
        QueueCalls broken = direct.by(through);
        direct.create(technique);
        String key = technique + moment + direct.queue();
        boolean isTransaction = technique.equals("statements");
        breakAndSendAgain(() -> broken.send("one", key), direct, proxy, moment, through, isTransaction);
        isTransaction |= technique.equals("advisory") || technique.equals("repeatable-read");
        proxy.breakNext(through, moment);
        requireBroken(broken.pop(key + "p"), moment == Moment.BEFORE && isTransaction);
        assertThat(direct.count()).as(key).isEqualTo(moment == Moment.AFTER ? 0 : 1);
        through.awaitDatabase();
        HttpResponse<String> again = broken.pop(key + "p");
        assertThat(json(again).get("body").asString()).isEqualTo("one");
        assertThat(isReplay(again)).isEqualTo(moment == Moment.AFTER);
        assertThat(direct.count()).as(key).isZero();

        isTransaction = technique.equals("statements") || technique.equals("pgmq");
        breakAndSendAgain(() -> broken.broadcast("two", key + "b"), direct, proxy, moment, through, isTransaction);
    }

    /** To a queue that is empty. */
    private static void breakAndSendAgain(
            Supplier<HttpResponse<String>> sending,
            QueueCalls direct,
            BreakingProxy proxy,
            Moment moment,
            RunningService through,
            boolean isTransaction) {
        proxy.breakNext(through, moment);
        requireBroken(sending.get(), moment == Moment.BEFORE && isTransaction);
        assertThat(direct.count()).isEqualTo(moment == Moment.AFTER ? 1 : 0);
        through.awaitDatabase();
        assertThat(isReplay(sending.get())).isEqualTo(moment == Moment.AFTER);
        assertThat(direct.count()).isEqualTo(1);
    }

    /** They were kept until the service ended. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_queue_in_memory_whose_deletion_may_have_been_done_leaves_no_messages(boolean isMadeAnew) throws IOException {
        try (BreakingProxy proxy = new BreakingProxy(database.port);
                RunningService through = proxy.service()) {
            QueueCalls broken = QueueCalls.fresh(through);
            broken.create("memory");
            json(broken.send("one", null));
            proxy.breakNext(through, Moment.AFTER);
            requireBroken(broken.delete(), false);
            assertThat(through.metric("restbench_memory_held_bytes ")).isPositive();
            through.awaitDatabase();
            assertThat(json(isMadeAnew ? broken.create("memory") : broken.delete()))
                    .isNotNull();
            assertThat(through.metric("restbench_memory_held_bytes ")).isZero();
        }
    }

    @Test
    void a_running_service_forgets_receipts_that_are_old_enough() {
        calls.create("skip-locked");
        json(calls.send("one", calls.queue()));
        String receipts = "SELECT key FROM messages.receipt WHERE key = '" + calls.queue() + "'";
        assertThat(database.query(receipts)).hasSize(1);
        Map<String, String> forgetful = new HashMap<>(database.environment());
        forgetful.put("RESTBENCH_RECEIPT_SECONDS", "1");
        try (RunningService other = new RunningService(forgetful)) {
            while (!database.query(receipts).isEmpty()) {
                assertThat(other.get("/health").statusCode()).isEqualTo(200);
            }
        }
    }

    @Test
    void a_database_that_falls_silent_leaves_it_unknown_and_a_key_tells() throws IOException {
        calls.create("skip-locked");
        try (BreakingProxy proxy = new BreakingProxy(database.port);
                RunningService through = proxy.service()) {
            QueueCalls silenced = calls.by(through);
            proxy.silenceNext(through);
            requireBroken(silenced.send("one", calls.queue()), false);
            through.awaitDatabase();
            assertThat(isReplay(silenced.send("one", calls.queue()))).isTrue();
            assertThat(calls.count()).isEqualTo(1);
        }
    }

    /** As on a machine whose cores have too much to do: a request waits for a connection for a second. */
    @Test
    void a_database_that_takes_longer_to_log_in_than_a_request_waits_is_reached_all_the_same() throws IOException {
        try (BreakingProxy proxy = new BreakingProxy(database.port)) {
            proxy.logInAfter(1500);
            try (RunningService through = proxy.service()) {
                through.awaitDatabase();
            }
        }
    }

    private static void requireBroken(HttpResponse<String> answer, boolean isNotDone) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(answer.body()).contains(isNotDone ? "\"014\"" : "\"015\"");
    }

    @Test
    void a_server_that_is_shutting_down_has_maybe_done_it_and_one_that_refuses_has_not() throws Exception {
        calls.create("blocking");
        json(calls.send("one", null));
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute(
                    "SELECT 1 FROM messages.message WHERE queue_id = " + database.id(calls.queue()) + " FOR UPDATE");
            PostgresServer.WaitingPop waiting = database.popThatWaitsFor(calls, "transactionid", "tuple");
            database.query("SELECT pg_terminate_backend(" + waiting.process() + ")");
            requireBroken(waiting.answer().get(), false); // 57P01 is FATAL
            service.awaitDatabase();
            requireBroken(calls.pop(null), true); // the other's lock outlasts the statement's five seconds: an ERROR
        }
        assertThat(calls.popped()).isEqualTo("one");
    }

    @Test
    void no_text_of_a_request_becomes_sql_and_none_is_in_the_log(CapturedOutput log) {
        String sql = "'; DROP TABLE messages.message; --";
        calls.create("skip-locked");
        for (String body : List.of(sql, "' OR 1=1 --", ":queue_id", "$1 ?")) {
            json(calls.send(body, null));
            assertThat(calls.popped()).isEqualTo(body);
        }
        String queue = calls.queue();
        for (String path :
                List.of("queues", "broadcast", "queues/" + queue + "/messages", "queues/" + queue + "/pop")) {
            // Members that an operation does not have are ignored.
            String right = """
                {"requestId":1,"queue":"%1$s","technique":"skip-locked","queues":["%1$s"],"sender":3,"client":3,
                "receiver":5,"body":"x","key":"%2$s"}\
                """.formatted(queue, path);
            ObjectNode members = (ObjectNode) ContractExample.JSON.readTree(right);
            for (String member : List.copyOf(members.propertyNames())) {
                String hostile = members.deepCopy().put(member, sql).toString();
                HttpResponse<String> answer = calls.ask("POST", "serial/" + path, hostile);
                assertThat(answer.statusCode()).as(answer.body()).isIn(200, 409, 422);
            }
        }
        assertThat(database.query("SELECT count(*) FROM messages.message")).isNotEmpty();
        calls.create("blocking"); // refused, and what breaks is logged
        database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                + " WHERE application_name = 'restbench-java'");
        while (calls.send("SECRET", null).statusCode() != 200) {
            Thread.onSpinWait();
        }
        assertThat(log.getAll())
                .doesNotContain("DROP TABLE", "SECRET", "terminating", "messages.message", "org.postgresql");
    }
}
