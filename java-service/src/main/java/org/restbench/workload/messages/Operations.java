package org.restbench.workload.messages;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.restbench.database.DatabaseFailure;
import org.restbench.database.FreeSpace;
import org.restbench.database.Session;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.messages.MessagesAnswer.BroadcastIds;
import org.restbench.workload.messages.MessagesAnswer.EmptyPop;
import org.restbench.workload.messages.MessagesAnswer.Message;
import org.restbench.workload.messages.MessagesAnswer.MessageDeletion;
import org.restbench.workload.messages.MessagesAnswer.MessageList;
import org.restbench.workload.messages.MessagesAnswer.PopResult;
import org.restbench.workload.messages.MessagesAnswer.QueueCount;
import org.restbench.workload.messages.MessagesAnswer.QueueCreation;
import org.restbench.workload.messages.MessagesAnswer.QueueDeletion;
import org.restbench.workload.messages.MessagesAnswer.QueueList;
import org.restbench.workload.messages.MessagesAnswer.SendId;

/** The operations, for one request. Every method throws {@link InvalidRequest} or {@link DatabaseFailure}. */
final class Operations {
    /** SQLSTATEs for a queue that no longer exists: its row is missing, or its table in pgmq. */
    private static final Set<String> GONE = Set.of("23503", "42P01");

    /**
     * The codes of which an outdated cached queue may be the cause: its technique cannot do the work (013), or it is
     * the first queue of a broadcast that is gone, and another one was named (012).
     */
    private static final Set<String> OUTDATED = Set.of("012", "013");

    private final Session session;
    private final FreeSpace space;
    private final QueueCache queues;
    private final MemoryQueues memory;
    private final Receipts receipts;
    private final QueueOperations ways;

    Operations(Session session, FreeSpace space, QueueCache queues, MemoryQueues memory, LongAdder retries) {
        this.session = session;
        this.space = space;
        this.queues = queues;
        this.memory = memory;
        this.receipts = new Receipts(session);
        this.ways = new QueueOperations(session, receipts, memory, retries);
    }

    /** Does the operation that is asked for. */
    MessagesAnswer answer(MessagesRequest request) {
        if (request instanceof MessagesRequest.Create create) {
            return create(create);
        }
        if (request instanceof MessagesRequest.ListQueues list) {
            return list(list);
        }
        if (request instanceof MessagesRequest.CountMessages count) {
            return show(count);
        }
        if (request instanceof MessagesRequest.DeleteQueue queue) {
            return deleteQueue(queue);
        }
        if (request instanceof MessagesRequest.Send send) {
            return send(send);
        }
        if (request instanceof MessagesRequest.Broadcast broadcast) {
            return broadcast(broadcast);
        }
        if (request instanceof MessagesRequest.Peek peek) {
            return peek(peek);
        }
        if (request instanceof MessagesRequest.Pop pop) {
            return pop(pop);
        }
        return deleteMessage((MessagesRequest.DeleteMessage) request);
    }

    private MessagesAnswer create(MessagesRequest.Create request) {
        String name = request.queue();
        long asOf = queues.asOf();
        Long before = memory.latest(name);
        QueueCreation created = session.write(
                        "create-queue",
                        Map.of("queue", name, "technique", request.technique().label()),
                        row -> {
                            Queue now = queue(row.getLong("id"), row.getString("technique"));
                            queues.put(name, now, asOf);
                            memory.settle(name, before, now);
                            return new QueueCreation(
                                    request.id().text(), name, row.getString("technique"), row.getBoolean("created"));
                        })
                .get(0);
        if (!created.technique().equals(request.technique().label())) {
            throw new InvalidRequest("013", "queue: exists with the technique " + created.technique(), request.id());
        }
        return new MessagesAnswer(created);
    }

    private static Queue queue(long id, String technique) {
        return new Queue(id, QueueTechnique.named(technique).orElseThrow());
    }

    private MessagesAnswer list(MessagesRequest.ListQueues request) {
        return new MessagesAnswer(new QueueList(session.read(
                "list-queues",
                Map.of("after", request.after(), "limit", request.limit()),
                row -> new QueueList.Entry(row.getString("name"), row.getString("technique")))));
    }

    private MessagesAnswer show(MessagesRequest.CountMessages request) {
        String name = request.queue();
        QueueCount count = onQueue(name, null, empty -> empty.messages() == 0, queue -> {
            long messages = queue.technique() == QueueTechnique.MEMORY
                    ? memory.count(queue.id())
                    : session.read(
                                    queue.technique() == QueueTechnique.PGMQ ? "count-pgmq" : "count",
                                    Map.of("queue_id", queue.id()),
                                    row -> row.getLong("messages"))
                            .get(0);
            return new QueueCount(name, queue.technique().label(), messages);
        });
        return new MessagesAnswer(count);
    }

    private MessagesAnswer deleteQueue(MessagesRequest.DeleteQueue request) {
        String name = request.queue();
        Queue gone = find(name);
        boolean deleted;
        try {
            deleted = session.write("delete-queue", Map.of("queue", name), row -> row.getBoolean("deleted"))
                    .get(0);
        } finally { // also where it is unknown whether the queue is deleted
            queues.deleted(name);
        }
        if (gone != null) {
            memory.deleteQueue(gone.id());
        }
        if (memory.latest(name) != null) { // another queue by now, which may have been deleted as well
            settle(name);
        }
        return new MessagesAnswer(new QueueDeletion(name, deleted));
    }

    private MessagesAnswer send(MessagesRequest.Send request) {
        RequestId id = request.id();
        return receipts.once(
                request,
                () -> onQueue(request.queue(), id, sent -> false, queue -> {
                    requireKeys(queue.technique(), request);
                    requireReceivers(queue, request.receiver(), id);
                    requireRoom(queue.technique(), id);
                    return new SendId(id.text(), ways.send(queue, request));
                }),
                row -> new SendId(id.text(), row.getLong("id")));
    }

    private MessagesAnswer broadcast(MessagesRequest.Broadcast request) {
        return receipts.once(
                request,
                () -> new BroadcastIds(request.id().text(), broadcastOnce(request)),
                row -> new BroadcastIds(request.id().text(), Receipts.numbers(row, "ids")));
    }

    private List<Long> broadcastOnce(MessagesRequest.Broadcast request) {
        try {
            return broadcastAsKnown(request);
        } catch (DatabaseFailure | InvalidRequest refused) {
            requireOutdated(refused);
        }
        request.queues().forEach(queues::forget);
        return broadcastAsKnown(request);
    }

    private List<Long> broadcastAsKnown(MessagesRequest.Broadcast request) {
        List<String> names = request.queues();
        List<Queue> asked = IntStream.range(0, names.size())
                .mapToObj(i -> known(names.get(i), "queues[" + i + "]", request.id()))
                .toList();
        if (asked.stream().map(Queue::technique).distinct().count() > 1) {
            throw new InvalidRequest("013", "queues: must be of one technique", request.id());
        }
        requireKeys(asked.get(0).technique(), request);
        requireRoom(asked.get(0).technique(), request.id());
        return ways.broadcast(asked, request);
    }

    private MessagesAnswer peek(MessagesRequest.Peek request) {
        List<Message> messages = onQueue(request.queue(), null, List::isEmpty, queue -> {
            requireReceivers(queue, request.receiver(), null);
            if (queue.technique() == QueueTechnique.MEMORY) {
                return memory.peek(queue.id(), request.receiver(), request.limit());
            }
            return session.read(
                    queue.technique() == QueueTechnique.PGMQ ? "peek-pgmq" : "peek",
                    Map.of("queue_id", queue.id(), "receiver", request.receiver(), "limit", request.limit()),
                    Message.to(request.receiver()));
        });
        return new MessagesAnswer(new MessageList(messages));
    }

    private MessagesAnswer pop(MessagesRequest.Pop request) {
        RequestId id = request.id();
        return receipts.once(
                request,
                () -> onQueue(request.queue(), id, EmptyPop.class::isInstance, queue -> {
                    requireKeys(queue.technique(), request);
                    requireReceivers(queue, request.receiver(), id);
                    return popped(id, ways.pop(queue, request));
                }),
                row -> popped(id, Message.to(request.receiver()).read(row)));
    }

    private static Object popped(RequestId id, Message message) {
        if (message == null) {
            return new EmptyPop(id.text(), null);
        }
        return new PopResult(
                id.text(), message.id(), message.sender(), message.receiver(), message.body(), message.sentAt());
    }

    private MessagesAnswer deleteMessage(MessagesRequest.DeleteMessage request) {
        boolean deleted =
                onQueue(request.queue(), null, found -> !found, queue -> ways.delete(queue, request.message()));
        return new MessagesAnswer(new MessageDeletion(request.message(), deleted));
    }

    private static void requireKeys(QueueTechnique technique, MessagesRequest.Repeatable request) {
        if (request.key() != null && !technique.hasKeys()) {
            throw new InvalidRequest("013", "key: the technique " + technique.label() + " has no keys", request.id());
        }
    }

    private static void requireReceivers(Queue queue, long receiver, RequestId id) {
        if (receiver != 0 && !queue.technique().hasReceivers()) {
            String technique = queue.technique().label();
            throw new InvalidRequest("013", "receiver: the technique " + technique + " has no receivers", id);
        }
    }

    private void requireRoom(QueueTechnique technique, RequestId id) {
        if (technique != QueueTechnique.MEMORY && !space.isEnough()) {
            throw new InvalidRequest("014", MessagesWorkload.NOT_DONE, id);
        }
    }

    /**
     * Does work on a queue as cached. Where that queue is gone, has no messages, or has a technique that cannot do the
     * work, the database is asked for the queue. If it is another one, the work is done on that one.
     *
     * @param nothing whether a queue that is gone would have had this result as well
     */
    private <T> T onQueue(String name, RequestId id, Predicate<T> nothing, Function<Queue, T> work) {
        Queue queue = known(name, "queue", id);
        while (true) {
            T result = null;
            RuntimeException refused = null;
            try {
                result = work.apply(queue);
                if (!nothing.test(result) || queue.technique() == QueueTechnique.MEMORY) {
                    return result;
                }
            } catch (DatabaseFailure | InvalidRequest thrown) {
                requireOutdated(thrown);
                refused = thrown;
            }
            queues.forget(name);
            Queue now = known(name, "queue", id);
            if (now.equals(queue)) {
                if (refused != null) {
                    throw refused;
                }
                return result;
            }
            queue = now;
        }
    }

    /** Rethrows an exception, unless an outdated cached queue may be its cause. */
    private static void requireOutdated(RuntimeException thrown) {
        boolean isOutdated = thrown instanceof DatabaseFailure failed
                ? failed.isOneOf(GONE)
                : thrown instanceof InvalidRequest refused && OUTDATED.contains(refused.code());
        if (!isOutdated) {
            throw thrown;
        }
    }

    /** @throws InvalidRequest 012, with the place of the name in the request, where the queue does not exist */
    private Queue known(String name, String place, RequestId id) {
        Queue found = find(name);
        if (found == null) {
            throw new InvalidRequest("012", place + ": does not exist", id);
        }
        return found;
    }

    private void settle(String name) {
        try {
            find(name);
        } catch (DatabaseFailure later) { // the next request for the name settles it; the deletion itself is done
            return;
        }
    }

    /** The queue as cached, else as the database has it; null where the database has none of this name. */
    private Queue find(String name) {
        Queue known = queues.get(name);
        if (known != null) {
            return known;
        }
        long asOf = queues.asOf();
        Long before = memory.latest(name);
        List<Queue> found = session.read(
                "find-queue", Map.of("queue", name), row -> queue(row.getLong("id"), row.getString("technique")));
        Queue now = found.isEmpty() ? null : found.get(0);
        memory.settle(name, before, now);
        if (now != null) {
            queues.put(name, now, asOf);
        }
        return now;
    }
}
