package org.restbench.workload.messages;

import java.util.List;

/**
 * What a request is answered.
 *
 * @param members one of the records here: the answer's members in order
 * @param replayed whether an earlier request with the same key has had this answer
 * @param connectionNanos that it waited for a connection to the database
 * @param databaseNanos that it waited for the database
 */
public record MessagesAnswer(Object members, boolean replayed, long connectionNanos, long databaseNanos) {
    /** Not replayed, and without its times. */
    MessagesAnswer(Object members) {
        this(members, false, 0, 0);
    }

    MessagesAnswer asReplay() {
        return new MessagesAnswer(members, true, connectionNanos, databaseNanos);
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

    /** @param receiver null for nobody in particular */
    public record PopResult(String requestId, long id, long sender, Long receiver, String body, long sentAt) {}

    /** There was no message: {@code id} is null. */
    public record EmptyPop(String requestId, Long id) {}

    public record MessageDeletion(long id, boolean deleted) {}
}
