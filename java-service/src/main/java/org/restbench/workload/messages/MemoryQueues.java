package org.restbench.workload.messages;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.messages.MessagesAnswer.Message;

/**
 * The messages of the queues of technique {@code memory}. They take at most a quarter of the memory budget, because the
 * requests that receive them need memory, too. They are lost when the service ends.
 */
final class MemoryQueues {
    /** Approximate bytes of a message in addition to its characters. */
    private static final int BYTES_OF_A_MESSAGE = 160;

    /** Number of deleted queues to remember: far more than can be deleted during one send. */
    private static final int DELETED_KNOWN = 10_000;

    private static final int SHARE = 4;

    private final MemoryBudget.Hold memory;
    private final long mostBytes;
    private final Set<Long> deletedQueues = new LinkedHashSet<>();
    private final Map<Long, Map<Long, Deque<Message>>> queues = new HashMap<>();

    /** The latest queue of each name whose messages may be held here; removed when they are dropped. */
    private final Map<String, Long> latest = new HashMap<>();

    private long lastId;

    MemoryQueues(MemoryBudget budget) {
        memory = budget.hold(0);
        mostBytes = budget.totalBytes() / SHARE;
    }

    private static long bytes(String body) {
        return BYTES_OF_A_MESSAGE + (long) Character.BYTES * body.length();
    }

    private Deque<Message> messages(long queue, long receiver) {
        return queues.getOrDefault(queue, Map.of()).getOrDefault(receiver, new ArrayDeque<>());
    }

    /**
     * Sends to each queue that is not deleted meanwhile; returns the ids in the order of the queues.
     *
     * @throws MemoryRefused where not all messages fit: then none is sent
     */
    synchronized List<Long> send(List<Long> to, long sender, long receiver, String body) {
        long needed =
                to.stream().filter(queue -> !deletedQueues.contains(queue)).count() * bytes(body);
        if (memory.bytes() + needed > mostBytes) {
            throw MemoryRefused.never("the request", memory.bytes() + needed, mostBytes);
        }
        memory.grow(needed);
        long sentAt = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        return to.stream()
                .map(queue -> {
                    Message message = new Message(++lastId, sender, receiver == 0 ? null : receiver, body, sentAt);
                    if (!deletedQueues.contains(queue)) {
                        queues.computeIfAbsent(queue, id -> new TreeMap<>())
                                .computeIfAbsent(receiver, id -> new ArrayDeque<>())
                                .add(message);
                    }
                    return message.id();
                })
                .toList();
    }

    /** Removes and returns the oldest message for a receiver; null where there is none. */
    synchronized Message pop(long queue, long receiver) {
        Deque<Message> messages = messages(queue, receiver);
        Message message = messages.poll();
        if (message != null) {
            memory.shrink(bytes(message.body()));
            if (messages.isEmpty()) {
                queues.get(queue).remove(receiver);
            }
        }
        return message;
    }

    synchronized List<Message> peek(long queue, long receiver, long limit) {
        return messages(queue, receiver).stream().limit(limit).toList();
    }

    synchronized long count(long queue) {
        return queues.getOrDefault(queue, Map.of()).values().stream()
                .mapToLong(Collection::size)
                .sum();
    }

    synchronized boolean delete(long queue, long id) {
        Collection<Deque<Message>> lines =
                queues.getOrDefault(queue, new HashMap<>()).values();
        boolean deleted =
                lines.stream().anyMatch(messages -> messages.removeIf(message -> message.id() == id && gone(message)));
        lines.removeIf(Collection::isEmpty);
        return deleted;
    }

    private boolean gone(Message message) {
        memory.shrink(bytes(message.body()));
        return true;
    }

    /** The latest queue of this name, null for none: read before the database is asked, for {@link #settle}. */
    synchronized Long latest(String name) {
        return latest.get(name);
    }

    /**
     * Drops the messages of an earlier queue that the database no longer has, whichever service deleted it. Ids of
     * queues are never reused.
     *
     * @param before what {@link #latest} returned
     * @param now the database's queue of this name, null for none
     */
    synchronized void settle(String name, Long before, Queue now) {
        if (before != null && (now == null || now.id() != before)) {
            deleteQueue(before);
        }
        if (now != null && now.technique() == QueueTechnique.MEMORY) {
            latest.merge(name, now.id(), Long::max); // an older answer of the database may arrive late
        }
    }

    synchronized void deleteQueue(long queue) {
        latest.values().remove(queue);
        deletedQueues.add(queue);
        if (deletedQueues.size() > DELETED_KNOWN) {
            deletedQueues.remove(deletedQueues.iterator().next());
        }
        Map<Long, Deque<Message>> gone = queues.remove(queue);
        if (gone != null) {
            gone.values().forEach(messages -> messages.forEach(this::gone));
        }
    }
}
