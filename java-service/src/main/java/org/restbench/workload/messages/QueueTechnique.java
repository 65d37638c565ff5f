package org.restbench.workload.messages;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** By what means messages are sent to a queue and popped from it: the same work in every case. */
public enum QueueTechnique {
    /** One statement, which passes over messages that others hold. */
    SKIP_LOCKED("send", "pop-skip-locked"),
    /** A transaction of one statement for each step. */
    STATEMENTS("send", "pop-statements-select"),
    /** Functions in the database. */
    FUNCTION("send-function", "pop-function"),
    /** One statement, which waits for whoever holds the oldest message. */
    BLOCKING("send", "pop-blocking"),
    /** Who removes a message holds the queue's lock. */
    ADVISORY("send", "pop-plain"),
    /** A transaction at that isolation, begun again where another was faster. */
    REPEATABLE_READ("send", "pop-plain"),
    /** An extension of PostgreSQL for queues. */
    PGMQ("send-pgmq", "pop-pgmq"),
    /** In this process. */
    MEMORY("", "");

    private final String send;
    private final String pop;

    QueueTechnique(String send, String pop) {
        this.send = send;
        this.pop = pop;
    }

    /** Nothing where there is none of this name. */
    public static Optional<QueueTechnique> named(String name) {
        return Arrays.stream(values()).filter(each -> each.label().equals(name)).findFirst();
    }

    public static String names() {
        return Arrays.stream(values()).map(QueueTechnique::label).collect(Collectors.joining(", "));
    }

    /** As clients and the database know it. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    String send() {
        return send;
    }

    String pop() {
        return pop;
    }

    /** Whether a statement has a form of its own for requests with a key. */
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
