package org.restbench.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import org.restbench.execution.StrategyFault;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.servlet.resource.NoResourceFoundException;
import org.springframework.web.util.DisconnectedClientHelper;

/** The one place that turns what went wrong into a response. */
@RestControllerAdvice
public final class ErrorHandler {
    private static final Logger LOG = LoggerFactory.getLogger(ErrorHandler.class);

    /** @param requestId asked only for a fault of ours, as reading it costs */
    Reply reply(Throwable thrown, Supplier<RequestId> requestId) {
        if (thrown instanceof Refused refused) {
            return refused.reply();
        }
        if (thrown instanceof InvalidRequest invalid) {
            return Reply.error(ErrorCode.of(invalid.code()), invalid.getMessage(), invalid.requestId());
        }
        return fault(thrown, requestId.get());
    }

    private static Reply fault(Throwable thrown, RequestId id) {
        LOG.error("request {} failed with 099", id == null ? "without a readable id" : id.asReceived(), thrown);
        String message =
                thrown instanceof StrategyFault told ? told.getMessage() : "A fault of the service; see its log";
        return Reply.error(ErrorCode.FAULT, message, id);
    }

    @ExceptionHandler({NoHandlerFoundException.class, NoResourceFoundException.class})
    void noSuchPath(HttpServletResponse response) throws IOException {
        Refused.noSuchPath().reply().writeTo(response);
    }

    @ExceptionHandler
    void wrongMethod(HttpRequestMethodNotSupportedException wrong, HttpServletResponse response) throws IOException {
        String[] allowed = wrong.getSupportedMethods();
        Refused.wrongMethod(allowed == null ? "GET" : String.join(", ", allowed))
                .reply()
                .writeTo(response);
    }

    @ExceptionHandler
    void other(Exception thrown, HttpServletResponse response) throws IOException {
        if (DisconnectedClientHelper.isClientDisconnectedException(thrown)) {
            LOG.debug("the client went away before it had its answer: {}", thrown.toString()); // nobody to tell
            return;
        }
        reply(thrown, () -> null).writeTo(response);
    }
}
