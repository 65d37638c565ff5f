package org.restbench.core;

import java.util.Arrays;

/** The contract's error codes, each with the HTTP status of its replies. */
public enum ErrorCode {
    SIZES_DIFFER("001", 422),
    MALFORMED("002", 400),
    MEMBER("003", 422),
    ROW_WIDTH("004", 422),
    ELEMENT("005", 422),
    OVERFLOW("006", 422),
    TOO_LARGE("007", 413),
    BUSY("008", 503),
    /** 404; a wrong method (405) or media type (415) has the same code. */
    NO_ROUTE("009", 404),
    MEMORY("010", 413),
    TOO_MUCH_WORK("011", 413),
    NO_QUEUE("012", 404),
    CONFLICT("013", 409),
    /** The database cannot carry out the request now. */
    NOT_DONE("014", 503),
    /** It is unknown whether the database has carried out the request. */
    UNKNOWN_OUTCOME("015", 503),
    FAULT("099", 500);

    private final String code;
    final int status;

    ErrorCode(String code, int status) {
        this.code = code;
        this.status = status;
    }

    public String code() {
        return code;
    }

    static ErrorCode of(String code) {
        return Arrays.stream(values())
                .filter(entry -> entry.code.equals(code))
                .findFirst()
                .orElseThrow();
    }
}
