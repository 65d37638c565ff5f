package org.restbench.codec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.messages.MessagesAnswer;
import org.restbench.workload.messages.MessagesRequest;
import org.restbench.workload.messages.MessagesWorkload;

/** The JSON of one operation on queues. */
public final class MessagesJson implements Codec<MessagesRequest, MessagesAnswer> {
    private static final Map<String, String> REPLAYED = Map.of("Idempotent-Replayed", "true");

    private final boolean hasBody;
    private final int mostCharacters;
    private final Function<MessagesReader, MessagesRequest> reading;

    private MessagesJson(boolean hasBody, int mostCharacters, Function<MessagesReader, MessagesRequest> reading) {
        this.hasBody = hasBody;
        this.mostCharacters = mostCharacters;
        this.reading = reading;
    }

    /**
     * All operations; those of the same path in the order GET, POST, DELETE.
     *
     * @param mostCharacters most code points of a message
     */
    public static List<CodedWorkload<MessagesRequest, MessagesAnswer>> operations(
            MessagesWorkload workload, int mostCharacters) {
        Table table = new Table(workload, mostCharacters);
        return List.of(
                table.row("GET", "/queues", it -> new MessagesRequest.ListQueues(it.after(), it.limit(100, 1000))),
                table.row("POST", "/queues", it -> new MessagesRequest.Create(it.id(), it.queue(), it.technique())),
                table.row("GET", "/queues/{queue}", it -> new MessagesRequest.CountMessages(it.queueOfPath())),
                table.row("DELETE", "/queues/{queue}", it -> new MessagesRequest.DeleteQueue(it.queueOfPath())),
                table.row(
                        "GET",
                        "/queues/{queue}/messages",
                        it -> new MessagesRequest.Peek(it.queueOfPath(), it.receiverOfQuery(), it.limit(1, 100))),
                table.row(
                        "POST",
                        "/queues/{queue}/messages",
                        it -> new MessagesRequest.Send(
                                it.queueOfPath(), it.id(), it.number("sender"), it.receiver(), it.body(), it.key())),
                table.row(
                        "DELETE",
                        "/queues/{queue}/messages/{id}",
                        it -> new MessagesRequest.DeleteMessage(it.queueOfPath(), it.idOfPath())),
                table.row(
                        "POST",
                        "/queues/{queue}/pop",
                        it -> new MessagesRequest.Pop(
                                it.queueOfPath(), it.id(), it.number("client"), it.receiver(), it.key())),
                table.row(
                        "POST",
                        "/broadcast",
                        it -> new MessagesRequest.Broadcast(
                                it.id(), it.number("sender"), it.queues(), it.body(), it.key())));
    }

    private record Table(MessagesWorkload workload, int mostCharacters) {
        CodedWorkload<MessagesRequest, MessagesAnswer> row(
                String method, String template, Function<MessagesReader, MessagesRequest> reading) {
            MessagesJson codec = new MessagesJson(method.equals("POST"), mostCharacters, reading);
            return new CodedWorkload<>(workload, codec, method, template);
        }
    }

    /** @throws InvalidRequest 002, 003 or 007: the first that applies */
    @Override
    public MessagesRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        MessagesReader reader = new MessagesReader(hasBody ? body : null, query, memory);
        reader.requirePathAndDelay();
        MessagesRequest request = reading.apply(reader);
        reader.requireShort(mostCharacters);
        return request;
    }

    /** The contract's members in its order, without white space. */
    @Override
    public byte[] encode(MessagesAnswer answer) {
        return Json.WRITER.writeValueAsBytes(answer.members());
    }

    @Override
    public Notes notes(MessagesAnswer answer) {
        Map<String, Long> parts = new LinkedHashMap<>();
        parts.put("connection", answer.connectionNanos());
        parts.put("database", answer.databaseNanos());
        return new Notes(answer.replayed() ? REPLAYED : Map.of(), parts);
    }

    @Override
    public RequestId identify(byte[] body) {
        return hasBody ? RequestIds.identify(body) : null;
    }
}
