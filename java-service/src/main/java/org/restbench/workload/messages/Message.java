package org.restbench.workload.messages;

import org.restbench.database.Session;

/**
 * A message in a queue.
 *
 * @param receiver null for nobody in particular
 * @param sentAt in µs since 1970
 */
public record Message(long id, long sender, Long receiver, String body, long sentAt) {
    /** From a row, whose receiver is known, 0 for nobody. */
    static Session.Row<Message> to(long receiver) {
        return row -> new Message(
                row.getLong("id"),
                row.getLong("sender"),
                receiver == 0 ? null : receiver,
                row.getString("body"),
                row.getLong("sent_at"));
    }
}
