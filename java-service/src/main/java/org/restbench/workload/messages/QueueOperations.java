package org.restbench.workload.messages;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.restbench.database.DatabaseFailure;
import org.restbench.database.Session;
import org.restbench.database.Session.Setting;
import org.restbench.workload.messages.MessagesAnswer.Message;
import org.restbench.workload.messages.MessagesRequest.Broadcast;
import org.restbench.workload.messages.MessagesRequest.Pop;
import org.restbench.workload.messages.MessagesRequest.Repeatable;
import org.restbench.workload.messages.MessagesRequest.Send;

/** Sends, pops and deletes messages by their queue's technique, and counts restarted transactions. */
record QueueOperations(Session session, Receipts receipts, MemoryQueues memory, LongAdder retries) {
    private static final Set<String> SERIALIZATION = Set.of("40001");
    private static final int MOST_RETRIES = 50;
    private static final double MOST_PAUSE_NANOS = 2e6;

    long send(Queue queue, Send request) {
        Map<String, Object> parameters = parameters(queue, request);
        parameters.put("receiver", request.receiver());
        parameters.put("sender", request.client());
        parameters.put("body", request.body());
        return switch (queue.technique()) {
            case MEMORY ->
                memory.send(List.of(queue.id()), request.client(), request.receiver(), request.body())
                        .get(0);
            case STATEMENTS ->
                session.transaction(() -> {
                    long id = sent("send", parameters);
                    keep(request, Map.of("id", id));
                    return id;
                });
            default -> sent(form(queue.technique(), queue.technique().send, request), parameters);
        };
    }

    private long sent(String statement, Map<String, Object> parameters) {
        return session.write(statement, parameters, row -> row.getLong("id")).get(0);
    }

    /** Sends a message to each queue. Returns the messages' ids in the order of the queues. */
    List<Long> broadcast(List<Queue> queues, Broadcast request) {
        QueueTechnique technique = queues.get(0).technique();
        Map<String, Object> parameters = Receipts.parameters(request);
        List<Long> asked = queues.stream().map(Queue::id).toList();
        parameters.put("asked_ids", asked);
        parameters.put("ascending_ids", asked.stream().sorted().toList());
        parameters.put("sender", request.client());
        parameters.put("body", request.body());
        return switch (technique) {
            case MEMORY -> memory.send(asked, request.client(), 0, request.body());
            case STATEMENTS -> session.transaction(() -> kept(request, broadcast("broadcast", parameters)));
            case PGMQ -> session.transaction(() -> kept(request, sendEach(queues, parameters)));
            default -> broadcast(request.key() == null ? "broadcast" : "broadcast-with-key", parameters);
        };
    }

    private List<Long> broadcast(String statement, Map<String, Object> parameters) {
        return session.write(statement, parameters, row -> Receipts.numbers(row, "ids"))
                .get(0);
    }

    /** Sends in ascending order of the queues' ids, so that two broadcasts never wait for each other. */
    private List<Long> sendEach(List<Queue> queues, Map<String, Object> parameters) {
        List<Queue> ascending =
                queues.stream().sorted(Comparator.comparing(Queue::id)).toList();
        Map<Queue, Long> ids = new HashMap<>();
        for (Queue each : ascending) {
            parameters.put("pgmq_queue", each.pgmqName());
            ids.put(each, sent("send-pgmq", parameters));
        }
        return queues.stream().map(ids::get).toList();
    }

    private List<Long> kept(Broadcast request, List<Long> ids) {
        keep(request, Map.of("ids", ids));
        return ids;
    }

    /** Removes and returns the oldest message; null where there is none. */
    Message pop(Queue queue, Pop request) {
        Map<String, Object> parameters = parameters(queue, request);
        parameters.put("receiver", request.receiver());
        QueueTechnique technique = queue.technique();
        String statement = form(technique, technique.pop, request);
        return switch (technique) {
            case MEMORY -> memory.pop(queue.id(), request.receiver());
            case STATEMENTS -> session.transaction(() -> popInSteps(request, parameters));
            case ADVISORY ->
                session.transaction(() -> {
                    lock(queue.id());
                    return popped(statement, parameters, request);
                });
            case REPEATABLE_READ -> untilSerial(() -> popped(statement, parameters, request));
            default -> popped(statement, parameters, request);
        };
    }

    private Message popped(String statement, Map<String, Object> parameters, Pop request) {
        List<Message> found = session.write(statement, parameters, Message.to(request.receiver()));
        return found.isEmpty() ? null : found.get(0);
    }

    private Message popInSteps(Pop request, Map<String, Object> parameters) {
        if (request.key() != null) {
            session.read("lock-key", parameters, row -> true);
        }
        Message oldest = popped(QueueTechnique.STATEMENTS.pop, parameters, request);
        if (oldest != null) {
            parameters.put("id", oldest.id());
            session.change("pop-statements-delete", parameters);
            keep(
                    request,
                    Map.of(
                            "id", oldest.id(),
                            "sender", oldest.sender(),
                            "body", oldest.body(),
                            "sent_at", oldest.sentAt()));
        }
        return oldest;
    }

    private <T> T untilSerial(Supplier<T> work) {
        for (int retried = 0; ; retried++) {
            try {
                return session.transaction(Setting.REPEATABLE_READ, work);
            } catch (DatabaseFailure failed) {
                if (!failed.isOneOf(SERIALIZATION) || retried == MOST_RETRIES) {
                    throw failed;
                }
                retries.increment();
                pause();
            }
        }
    }

    /** Waits a random time, at most 2 ms: transactions that lost the same race then restart at different times. */
    private static void pause() {
        long nanos = (long) (Math.random() * MOST_PAUSE_NANOS);
        try {
            Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt(); // the next try fails
        }
    }

    private void lock(long id) {
        session.read("lock-queue", Map.of("queue_id", id), row -> id);
    }

    boolean delete(Queue queue, long message) {
        Map<String, Object> parameters = Map.of("queue_id", queue.id(), "id", message, "pgmq_queue", queue.pgmqName());
        return switch (queue.technique()) {
            case MEMORY -> memory.delete(queue.id(), message);
            case PGMQ ->
                session.write("delete-pgmq", parameters, row -> row.getBoolean("deleted"))
                        .get(0);
            case ADVISORY ->
                session.transaction(() -> {
                    lock(queue.id());
                    return session.change("delete", parameters) > 0;
                });
            default -> session.change("delete", parameters) > 0;
        };
    }

    private void keep(Repeatable request, Map<String, ?> answer) {
        if (request.key() != null) {
            receipts.keep(request, answer);
        }
    }

    private static String form(QueueTechnique technique, String statement, Repeatable request) {
        return request.key() != null && technique.hasFormWithKey() ? statement + "-with-key" : statement;
    }

    private static Map<String, Object> parameters(Queue queue, Repeatable request) {
        Map<String, Object> parameters = Receipts.parameters(request);
        parameters.put("queue_id", queue.id());
        parameters.put("pgmq_queue", queue.pgmqName());
        return parameters;
    }
}
