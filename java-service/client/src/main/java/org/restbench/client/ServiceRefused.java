package org.restbench.client;

/** The service answered with an error of its contract, as JSON or as a SOAP fault. */
public final class ServiceRefused extends Exception {
    /** The service is at its limit: the same call may be sent again. */
    public static final String BUSY = "008";

    private final int status;
    private final String errorCode;
    private final String requestId;

    /**
     * @param status the HTTP status
     * @param errorCode the contract's three digits
     * @param requestId null where the service could not read the id
     */
    public ServiceRefused(int status, String errorCode, String message, String requestId) {
        super(message);
        this.status = status;
        this.errorCode = errorCode;
        this.requestId = requestId;
    }

    public int status() {
        return status;
    }

    public String errorCode() {
        return errorCode;
    }

    public String requestId() {
        return requestId;
    }
}
