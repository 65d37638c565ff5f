package org.restbench.web;

import java.io.IOException;
import java.util.Map;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;

/**
 * Answers, in the contract's form, what the web container refuses before any code of ours runs (a broken request line,
 * a header that is too long). Tomcat makes it by its class name.
 */
public final class ContainerErrors extends ErrorReportValve {
    private static final Logger LOG = LoggerFactory.getLogger(ContainerErrors.class);

    @Override
    protected void report(Request request, Response response, Throwable thrown) {
        int status = contractStatus(response.getStatus());
        if (status < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
            return;
        }
        if (status >= 500) {
            LOG.error("the web container failed", thrown);
        }
        String message = message(status);
        SecurityHeaders.addTo(response); // a fault has emptied the response
        try {
            ErrorCode code = ErrorCode.ofContainerStatus(status);
            Map<String, String> headers = code == ErrorCode.BUSY ? Reply.RETRY : Map.of();
            Reply.error(code, status, message, null, headers).writeTo(response);
            response.finishResponse();
        } catch (IOException gone) {
            LOG.debug("the client went away before it was told", gone);
        }
    }

    /** The container tells a body that is late (408) from one that ends early (400); the contract does not. */
    private static int contractStatus(int status) {
        return status == HttpStatus.REQUEST_TIMEOUT.value() ? HttpStatus.BAD_REQUEST.value() : status;
    }

    private static String message(int status) {
        if (status == HttpStatus.BAD_REQUEST.value()) {
            return "The request is not HTTP, or its body could not be received whole and in time";
        }
        HttpStatus known = HttpStatus.resolve(status);
        return "Refused by the web container: " + (known == null ? status : known.getReasonPhrase());
    }
}
