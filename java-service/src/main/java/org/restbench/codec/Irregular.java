package org.restbench.codec;

/** A fast reader met something that is not a plain, right request. What it is, a plain, slow one then says. */
public final class Irregular extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** One for all: it carries nothing. */
    public static final Irregular FOUND = new Irregular();

    private Irregular() {
        super(null, null, false, false);
    }
}
