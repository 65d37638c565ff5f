package org.restbench.workload;

/** The request has no result, by no fault of the service: an ordinary answer, so without a stack trace. */
public final class InvalidRequest extends RuntimeException {
    private final String code;
    private final transient RequestId requestId;

    /**
     * @param code the contract's three digits, e.g. {@code "004"}
     * @param message what is wrong and where, at most 300 characters, with no text of the request
     * @param requestId null where it could not be read
     */
    public InvalidRequest(String code, String message, RequestId requestId) {
        super(message, null, false, false);
        this.code = code;
        this.requestId = requestId;
    }

    public static void refuse(String code, String fault, RequestId requestId) {
        if (fault != null) {
            throw new InvalidRequest(code, fault, requestId);
        }
    }

    public String code() {
        return code;
    }

    public RequestId requestId() {
        return requestId;
    }
}
