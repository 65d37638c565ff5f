package org.restbench.workload.matrix;

/** The fast reader met something that is not a plain, right request. {@link FaultFinder} then says what. */
final class Irregular extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** One for all: it carries nothing. */
    static final Irregular FOUND = new Irregular();

    private Irregular() {
        super(null, null, false, false);
    }
}
