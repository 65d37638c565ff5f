package org.restbench.web;

import java.util.Arrays;
import org.springframework.http.HttpStatus;

/** The contract's codes and the status each is answered with. */
enum ErrorCode {
    SIZES_DIFFER("001", HttpStatus.UNPROCESSABLE_CONTENT),
    MALFORMED("002", HttpStatus.BAD_REQUEST),
    MEMBER("003", HttpStatus.UNPROCESSABLE_CONTENT),
    ROW_WIDTH("004", HttpStatus.UNPROCESSABLE_CONTENT),
    ELEMENT("005", HttpStatus.UNPROCESSABLE_CONTENT),
    OVERFLOW("006", HttpStatus.UNPROCESSABLE_CONTENT),
    TOO_LARGE("007", HttpStatus.CONTENT_TOO_LARGE),
    BUSY("008", HttpStatus.SERVICE_UNAVAILABLE),
    /** 404; a wrong method or media type has the same code with a status of its own. */
    NO_ROUTE("009", HttpStatus.NOT_FOUND),
    MEMORY("010", HttpStatus.CONTENT_TOO_LARGE),
    FAULT("099", HttpStatus.INTERNAL_SERVER_ERROR);

    private final String code;
    private final HttpStatus status;

    ErrorCode(String code, HttpStatus status) {
        this.code = code;
        this.status = status;
    }

    String code() {
        return code;
    }

    int status() {
        return status.value();
    }

    /** The entry of a contract's code, e.g. {@code "004"}. */
    static ErrorCode of(String code) {
        return Arrays.stream(values())
                .filter(entry -> entry.code.equals(code))
                .findFirst()
                .orElseThrow();
    }

    /** The entry for a status that the web container decided on, before any code of ours ran. */
    static ErrorCode ofContainerStatus(int status) {
        return switch (status) {
            case 404, 405, 415 -> NO_ROUTE;
            case 413 -> TOO_LARGE;
            case 503 -> BUSY;
            default -> status < 500 ? MALFORMED : FAULT;
        };
    }
}
