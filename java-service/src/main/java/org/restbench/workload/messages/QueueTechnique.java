package org.restbench.workload.messages;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The technique by which messages are sent to a queue and popped from it. The work is the same in every case. */
public enum QueueTechnique {
    /** One statement, which skips messages that other transactions have locked. */
    SKIP_LOCKED("send", "pop-skip-locked"),
    /** A transaction with a statement for each step. */
    STATEMENTS("send", "pop-statements-select"),
    /** Functions in the database. */
    FUNCTION("send-function", "pop-function"),
    /** One statement, which waits for the transaction that has locked the oldest message. */
    BLOCKING("send", "pop-blocking"),
    /** A transaction that removes a message holds the queue's advisory lock. */
    ADVISORY("send", "pop-plain"),
    /** A transaction at this isolation level, restarted where another one was faster. */
    REPEATABLE_READ("send", "pop-plain"),
    /** An extension of PostgreSQL for queues. */
    PGMQ("send-pgmq", "pop-pgmq"),
    /** Queues in the memory of this process. */
    MEMORY("", "");

    final String send;
    final String pop;

    QueueTechnique(String send, String pop) {
        this.send = send;
        this.pop = pop;
    }

    /** The technique of this name; empty where there is none. */
    public static Optional<QueueTechnique> named(String name) {
        return Arrays.stream(values()).filter(each -> each.label().equals(name)).findFirst();
    }

    public static String names() {
        return Arrays.stream(values()).map(QueueTechnique::label).collect(Collectors.joining(", "));
    }

    /** The name that clients and the database use. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Whether the technique's statements have a separate form for requests with a key. */
    boolean hasFormWithKey() {
        return this != FUNCTION;
    }

    boolean hasReceivers() {
        return this != PGMQ;
    }

    boolean hasKeys() {
        return this != MEMORY;
    }
}
