package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** Requests about one queue to a service. */
record QueueCalls(RunningService service, String queue) {
    /** About a queue that no other test knows. */
    static QueueCalls fresh(RunningService service) {
        return new QueueCalls(service, "x" + UUID.randomUUID().toString().substring(0, 8));
    }

    /** About the same queue, to another service. */
    QueueCalls by(RunningService other) {
        return new QueueCalls(other, queue);
    }

    HttpResponse<String> ask(String method, String path, String body) {
        return service.send(service.to("/messages/" + path)
                .header("Content-Type", "application/json")
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build());
    }

    HttpResponse<String> create(String technique) {
        return ask(
                "POST",
                "serial/queues",
                String.format("{\"requestId\":1,\"queue\":\"%s\",\"technique\":\"%s\"}", queue, technique));
    }

    HttpResponse<String> delete() {
        return ask("DELETE", "serial/queues/" + queue, "");
    }

    /** @param key null for none */
    HttpResponse<String> send(String body, String key) {
        String message = String.format("{\"requestId\":1,\"sender\":3,\"body\":\"%s\"%s}", body, member(key));
        return ask("POST", "worker-pool/queues/" + queue + "/messages", message);
    }

    HttpResponse<String> send(String body, long receiver) {
        String message =
                String.format("{\"requestId\":1,\"sender\":3,\"receiver\":%d,\"body\":\"%s\"}", receiver, body);
        return ask("POST", "worker-pool/queues/" + queue + "/messages", message);
    }

    /** To this queue alone. */
    HttpResponse<String> broadcast(String body, String key) {
        return ask(
                "POST",
                "worker-pool/broadcast",
                String.format(
                        "{\"requestId\":1,\"sender\":3,\"queues\":[\"%s\"],\"body\":\"%s\"%s}",
                        queue, body, member(key)));
    }

    /** @param key null for none */
    HttpResponse<String> pop(String key) {
        return ask("POST", "worker-pool/queues/" + queue + "/pop", "{\"requestId\":1,\"client\":3" + member(key) + "}");
    }

    private static String member(String key) {
        return key == null ? "" : ",\"key\":\"" + key + "\"";
    }

    /** Of the message that is popped. */
    String popped() {
        return json(pop(null)).get("body").asString();
    }

    long count() {
        return json(ask("GET", "serial/queues/" + queue, "")).get("messages").asLong();
    }

    static JsonNode json(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return ContractExample.JSON.readTree(answer.body());
    }

    static boolean isReplay(HttpResponse<String> answer) {
        return answer.headers().firstValue("Idempotent-Replayed").isPresent();
    }
}
