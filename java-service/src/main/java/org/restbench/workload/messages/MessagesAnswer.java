package org.restbench.workload.messages;

import java.util.List;
import org.restbench.database.Session;

/**
 * The answer to a request, and how long it waited for a connection and for answers of the database.
 *
 * @param members one of the records below, whose components are the answer's members in order
 * @param replayed whether this is the answer to an earlier request with the same key
 */
public record MessagesAnswer(Object members, boolean replayed, long connectionNanos, long databaseNanos) {
    /** An answer that is not replayed, and does not have its times yet. */
    MessagesAnswer(Object members) {
        this(members, false, 0, 0);
    }

    MessagesAnswer took(long connection, long database) {
        return new MessagesAnswer(members, replayed, connection, database);
    }

    public record QueueCreation(String requestId, String queue, String technique, boolean created) {}

    public record QueueList(List<Entry> queues) {
        public record Entry(String queue, String technique) {}
    }

    public record QueueCount(String queue, String technique, long messages) {}

    public record QueueDeletion(String queue, boolean deleted) {}

    public record SendId(String requestId, long id) {}

    public record BroadcastIds(String requestId, List<Long> ids) {}

    public record MessageList(List<Message> messages) {}

    /** @param receiver null where the message is for nobody in particular */
    public record PopResult(String requestId, long id, long sender, Long receiver, String body, long sentAt) {}

    /** The answer to a pop that found no message: {@code id} is null. */
    public record EmptyPop(String requestId, Long id) {}

    public record MessageDeletion(long id, boolean deleted) {}

    /**
     * A message in a queue.
     *
     * @param receiver null where the message is for nobody in particular
     * @param sentAt in µs since 1970
     */
    public record Message(long id, long sender, Long receiver, String body, long sentAt) {
        /** Reads a message to a known receiver, 0 for nobody in particular, from a row. */
        static Session.Row<Message> to(long receiver) {
            return row -> new Message(
                    row.getLong("id"),
                    row.getLong("sender"),
                    receiver == 0 ? null : receiver,
                    row.getString("body"),
                    row.getLong("sent_at"));
        }
    }
}
