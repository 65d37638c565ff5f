package org.restbench.execution;

import java.util.Map;

/**
 * What work costs here, as {@link Calibration} measured it: what {@code adaptive} decides by.
 *
 * @param handoffNanos to give a job to another thread and get its result back
 * @param rates by the kind of work
 */
public record Costs(long handoffNanos, Map<String, Rate> rates) {
    /** To be done in turn costs a request a handoff: four per cent of the least that waits for its turn. */
    private static final int WORTH_A_TURN = 25;

    /**
     * Below this many handoffs help comes for too little: a helper's core is idle, or there would be no help, and a
     * thread there begins later than a handoff tells. Chosen on one machine of two cores with handoffs of 5.5
     * microseconds, where for one user help had 0.93 of the throughput with 150 microseconds to compute, 0.92 with 400,
     * 1.03 with 550, 0.99 with 800, 1.07 with 1500 and 1.17 with 6000: for another it is a guess.
     */
    private static final int WORTH_HELP = 150;

    /**
     * About what ten of the study's medium requests take. A handoff is a thousandth of it, and a small request that had
     * to wait for it would know.
     */
    private static final int LONG = 1000;

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

    /** From here on work is done in turn where more requests are there than cores. */
    long turnFromNanos() {
        return WORTH_A_TURN * handoffNanos;
    }

    /** From here on work is long: among many requests it goes to threads of its own. */
    long longFromNanos() {
        return LONG * handoffNanos;
    }
}
