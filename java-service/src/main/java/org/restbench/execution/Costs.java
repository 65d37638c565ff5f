package org.restbench.execution;

import java.util.Map;

/**
 * What work costs here, as {@link Calibration} measured it: what {@code adaptive} decides by.
 *
 * @param handoffNanos to give a job to another thread and get its result back
 * @param rates by the kind of work
 */
public record Costs(long handoffNanos, Map<String, Rate> rates) {
    /**
     * For help a thread has to be woken, half a handoff, and is then there for half of what is left: below this many
     * handoffs it comes for too little.
     */
    private static final int WORTH_HELP = 4;

    /** A handoff is a third of a per cent of such work, below what any measurement of it would see. */
    private static final int WORTH_A_HANDOFF = 300;

    /** For work that was not measured: the order of magnitude of a multiplication, and of reading a digit. */
    static final Rate UNKNOWN = new Rate(10, 1);

    /**
     * What a kind of work costs on one thread.
     *
     * @param nanosPerByte of the body, to parse it
     * @param nanosPerOperation to compute
     */
    public record Rate(double nanosPerByte, double nanosPerOperation) {
        Rate least(Rate other) {
            return new Rate(
                    Math.min(nanosPerByte, other.nanosPerByte), Math.min(nanosPerOperation, other.nanosPerOperation));
        }
    }

    Rate of(String kind) {
        return rates.getOrDefault(kind, UNKNOWN);
    }

    /** From here on a loop is worth the help of an idle core. */
    long helpFromNanos() {
        return WORTH_HELP * handoffNanos;
    }

    /** From here on work is long: it goes to threads of its own. */
    long longFromNanos() {
        return WORTH_A_HANDOFF * handoffNanos;
    }
}
