package org.restbench.web;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.function.Supplier;
import org.restbench.codec.RequestIds;
import org.restbench.execution.StrategyFault;
import org.restbench.memory.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.ErrorResponse;
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
        if (thrown instanceof MemoryRefused refused) {
            return refused.never()
                    ? Reply.error(ErrorCode.TOO_LARGE, refused.getMessage(), null)
                    : Reply.busy(refused.getMessage());
        }
        if (thrown instanceof OutOfMemoryError) {
            LOG.error("request {} met the end of memory or threads", shown(idUnlessOutOfMemory(requestId)), thrown);
            return Reply.busy("The service has no memory or no threads left for the request");
        }
        return fault(thrown, requestId.get());
    }

    private static Reply fault(Throwable thrown, RequestId id) {
        boolean told = thrown instanceof StrategyFault;
        LOG.error("request {} failed with 099", shown(id), told ? thrown : MutedThrowable.of(thrown));
        return Reply.error(ErrorCode.FAULT, told ? thrown.getMessage() : "A fault of the service; see its log", id);
    }

    private static RequestId idUnlessOutOfMemory(Supplier<RequestId> requestId) {
        try {
            return requestId.get();
        } catch (OutOfMemoryError still) {
            return null;
        }
    }

    /** For one line of the log, in ASCII without control characters: nobody forges another line with an id. */
    private static String shown(RequestId id) {
        if (id == null) {
            return "without a readable id";
        }
        StringBuilder shown = new StringBuilder();
        RequestIds.asReceived(id).chars().forEach(unit -> {
            if (unit >= ' ' && unit <= '~') {
                shown.append((char) unit);
            } else {
                shown.append(String.format("\\u%04x", unit));
            }
        });
        return shown.toString();
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
        answer(unwrapped(thrown), response);
    }

    /** For whatever went wrong outside of a workload. */
    void answer(Throwable thrown, HttpServletResponse response) throws IOException {
        if (DisconnectedClientHelper.isClientDisconnectedException(thrown)) {
            LOG.debug("the client went away before it had its answer: {}", thrown.toString()); // nobody to tell
            return;
        }
        if (thrown instanceof ErrorResponse told && told.getStatusCode().is4xxClientError()) {
            refused(told.getStatusCode()).writeTo(response);
            return;
        }
        reply(thrown, () -> null).writeTo(response);
    }

    /** The framework hands an Error on as the cause of an exception of its own. */
    private static Throwable unwrapped(Exception thrown) {
        return thrown instanceof ServletException && thrown.getCause() instanceof Error error ? error : thrown;
    }

    /** What the framework makes of a header it cannot read: no fault of ours. */
    private static Reply refused(HttpStatusCode status) {
        String message = "The request's headers are refused with status " + status.value();
        return Reply.error(ErrorCode.ofContainerStatus(status.value()), status.value(), message, null, Map.of());
    }
}
