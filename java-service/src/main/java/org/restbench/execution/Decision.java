package org.restbench.execution;

/** What {@code adaptive} can decide for a request: one of the places, and blocks as well where others helped. */
public enum Decision {
    /** All stages on the request's own thread. */
    CALLER("caller"),
    /** Computed, and if its body is not short parsed, by one of the threads that take requests in turn. */
    IN_TURN("in-turn"),
    /** Computed, and if its body is long parsed, by a thread that gives way to others. */
    LOW_PRIORITY_THREAD("low-priority-thread"),
    /** Other threads took parts of its loops. */
    BLOCKS("blocks");

    private final String label;

    Decision(String label) {
        this.label = label;
    }

    /** As it is counted under. */
    public String label() {
        return label;
    }
}
