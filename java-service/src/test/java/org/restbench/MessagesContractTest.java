package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.QueueCalls.json;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** Every example of the contract about queues, with a database. */
class MessagesContractTest {
    static final List<String> TECHNIQUES = List.of(
            "skip-locked", "statements", "function", "blocking", "advisory", "repeatable-read", "pgmq", "memory");

    static final List<String> OF_THE_DATABASE = TECHNIQUES.subList(0, TECHNIQUES.indexOf("memory"));

    private static final List<String> MADE_HERE = List.of("database", "queue-empty", "queue-three");

    private static List<ContractExample> examples(String given) {
        List<ContractExample> examples = ContractExample.all().stream()
                .filter(each -> each.isOfMessages() && each.given().equals(given))
                .toList();
        assertThat(examples).isNotEmpty();
        return examples;
    }

    /** With every technique under serial; with the first under each strategy, but for what is refused before. */
    @TestFactory
    Stream<DynamicTest> every_example_of_messages_holds() {
        RunningService service = new RunningService(PostgresServer.running().environment());
        List<String> strategies = service.strategies("messages");
        assertThat(strategies).startsWith("serial", "pinned", "pipeline", "worker-pool");
        return MADE_HERE.stream()
                .flatMap(given -> examples(given).stream())
                .filter(each -> each.texts("strategies").isEmpty()) // others have strategies with processes
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> {
                    techniques(each).forEach(technique -> check(service, each, "serial", technique));
                    if (Stream.of("ok", "012", "013").anyMatch(each.name()::startsWith)) {
                        strategies.stream()
                                .skip(1) // serial
                                .forEach(it -> check(
                                        service, each, it, techniques(each).get(0)));
                    }
                }))
                .onClose(service::close);
    }

    private static List<String> techniques(ContractExample example) {
        List<String> only = example.texts("techniques");
        boolean hasQueue = !List.of("database", "database-down").contains(example.given());
        if (only.isEmpty() && !hasQueue && !example.content().toString().contains("{technique}")) {
            return TECHNIQUES.subList(0, 1); // it is the same with each
        }
        return only.isEmpty() ? TECHNIQUES : only;
    }

    private static void check(RunningService service, ContractExample example, String strategy, String technique) {
        check(service, example, strategy, technique, () -> {});
    }

    /** @param atLast what is done between the requests that come before and the example's own */
    private static void check(
            RunningService service, ContractExample example, String strategy, String technique, Runnable atLast) {
        String run = "x" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
        make(service, example.given(), run, technique);
        ContractExample named = example.with(Map.of("run", run, "technique", technique));
        JsonNode before = before(service, named, strategy);
        ContractExample asked = named.with(Map.of("id", before.path("id").asString("1")));
        atLast.run();
        asked.check(service.send(asked.request(service, strategy, "")), before);
    }

    /** Queues a and b, and their messages, by the service's own requests. */
    static void make(RunningService service, String given, String run, String technique) {
        if (given.equals("database") || given.equals("database-down")) {
            return;
        }
        for (String queue : List.of("a", "b")) {
            json(new QueueCalls(service, run + "-" + queue).create(technique));
        }
        List<String> bodies = given.equals("queue-three") ? List.of("one", "two", "three") : List.of();
        for (String body : bodies) {
            json(service.post(
                    "/messages/serial/queues/" + run + "-a/messages",
                    "{\"requestId\":0,\"sender\":" + (bodies.indexOf(body) + 1) + ",\"body\":\"" + body + "\"}"));
        }
    }

    /** The answer to the last of them. */
    private static JsonNode before(RunningService service, ContractExample example, String strategy) {
        JsonNode last = ContractExample.JSON.nullNode();
        for (ContractExample each : example.before()) {
            last = json(service.send(each.request(service, strategy, "")));
        }
        return last;
    }

    @Test
    void a_service_starts_without_its_database_and_says_so() throws IOException {
        try (Socket silent = new Socket()) { // keeps its port from others, and does not listen
            silent.bind(new InetSocketAddress("127.0.0.1", 0));
            String url = "postgresql://restbench_service@127.0.0.1:" + silent.getLocalPort() + "/restbench";
            try (RunningService service = new RunningService(Map.of("RESTBENCH_DATABASE_URL", url))) {
                assertThat(service.get("/health").body()).contains("\"database\":{\"up\":false}");
                examples("database-down").parallelStream() // each waits its time for a connection
                        .forEach(example -> check(service, example, "serial", "skip-locked"));
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> examples_without_room_for_messages_hold() {
        RunningService service = new RunningService(PostgresServer.running().environmentWithoutRoom());
        return examples("queue-without-room").stream()
                .map(each -> DynamicTest.dynamicTest(
                        each.name(),
                        () -> techniques(each).forEach(technique -> check(service, each, "serial", technique))))
                .onClose(service::close);
    }

    @TestFactory
    Stream<DynamicTest> examples_with_a_connection_that_ends_at_the_commit_hold() throws IOException {
        BreakingProxy proxy = new BreakingProxy(PostgresServer.running().port);
        RunningService service = proxy.service();
        return examples("database-lost-at-commit").stream()
                .flatMap(each -> techniques(each).stream()
                        .filter(technique -> !technique.equals("memory"))
                        .map(technique -> DynamicTest.dynamicTest(
                                each.name() + " " + technique, () -> breakAndCheck(proxy, service, each, technique))))
                .onClose(() -> {
                    service.close();
                    proxy.endAll();
                });
    }

    private static void breakAndCheck(
            BreakingProxy proxy, RunningService service, ContractExample example, String technique) {
        check(service, example, "serial", technique, () -> proxy.breakNext(service, BreakingProxy.Moment.AFTER));
        assertThat(proxy.isArmed()).isFalse();
        service.awaitDatabase();
    }
}
