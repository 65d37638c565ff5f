package org.restbench.workload.messages;

import org.restbench.database.Session;

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
