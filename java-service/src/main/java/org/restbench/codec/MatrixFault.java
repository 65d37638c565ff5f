package org.restbench.codec;

/** What {@link FaultFinder} found: the contract's code, and a message that begins with the place. */
final class MatrixFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String code;

    MatrixFault(String code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    String code() {
        return code;
    }
}
