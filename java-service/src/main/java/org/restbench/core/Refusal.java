package org.restbench.core;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.restbench.codec.RequestIds;
import org.restbench.execution.ExecutionStrategy.AbandonedException;
import org.restbench.execution.ExecutionStrategy.StoppingException;
import org.restbench.execution.ExecutionStrategy.StrategyFault;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why a request has no result, independent of the protocol that the reply is written in.
 *
 * @param status of HTTP, for protocols that prescribe no other
 * @param requestId null where there is none to echo
 * @param headers of the reply
 */
public record Refusal(ErrorCode code, int status, String message, RequestId requestId, Map<String, String> headers) {
    /** The message of 099 where clients get no details. */
    static final String FAULT = "a fault of the service; its log says more";

    private static final Logger LOG = LoggerFactory.getLogger(Refusal.class);
    private static final Map<String, String> LATER = Map.of("Retry-After", "1");

    /** A refusal with its code's status; with 503, a header asks the client to try again after a second. */
    public static Refusal of(ErrorCode code, String message, RequestId requestId) {
        return new Refusal(code, code.status, message, requestId, code.status == 503 ? LATER : Map.of());
    }

    /** A refusal with 008. */
    static Refusal busy(String message) {
        return of(ErrorCode.BUSY, message, null);
    }

    /** A refusal with 009 for a path without a route. */
    public static Refusal noSuchPath() {
        return of(ErrorCode.NO_ROUTE, "no such path or strategy; GET /strategies lists the strategies", null);
    }

    static Refusal wrongMethod(Collection<String> allowed) {
        String which = (allowed.size() == 1 ? "method " : "methods ") + String.join(" and ", allowed);
        Map<String, String> allow = Map.of("Allow", String.join(", ", allowed));
        return new Refusal(ErrorCode.NO_ROUTE, 405, "this path has the " + which + " only", null, allow);
    }

    static Refusal wrongMediaType(String message) {
        return new Refusal(ErrorCode.NO_ROUTE, 415, message, null, Map.of());
    }

    /** A refusal with 002 and the status that a server has decided on. */
    static Refusal byServer(int status) {
        String message = "the request is refused with status " + status;
        return new Refusal(ErrorCode.MALFORMED, status, message, null, Map.of());
    }

    /**
     * The one place that decides which refusal a client gets for what was thrown.
     *
     * @param requestId reads the id, which is expensive: called only where the exception does not have it
     */
    public static Refusal of(Throwable thrown, Supplier<RequestId> requestId) {
        if (thrown instanceof RequestRefused refused) {
            return refused.refusal;
        }
        if (thrown instanceof InvalidRequest invalid) {
            return of(ErrorCode.of(invalid.code()), invalid.getMessage(), invalid.requestId());
        }
        if (thrown instanceof MemoryRefused refused) {
            return refused.never()
                    ? of(ErrorCode.MEMORY, refused.getMessage(), requestId.get())
                    : busy(refused.getMessage());
        }
        if (thrown instanceof StoppingException || thrown instanceof RejectedExecutionException) {
            return busy("the service is stopping");
        }
        if (thrown instanceof AbandonedException) {
            return busy("the client went away before its turn came");
        }
        if (thrown instanceof OutOfMemoryError) {
            LOG.error(
                    "request {} met the end of memory or threads",
                    RequestIds.inAscii(idUnlessOutOfMemory(requestId)),
                    thrown);
            return busy(MemoryRefused.now().getMessage());
        }
        return fault(thrown, requestId.get());
    }

    /** For a request that may have taken effect: 099, as other codes mean that nothing was done. */
    static Refusal afterwards(Throwable thrown, Supplier<RequestId> requestId) {
        return fault(thrown, idUnlessOutOfMemory(requestId));
    }

    private static Refusal fault(Throwable thrown, RequestId id) {
        boolean isForClients = thrown instanceof StrategyFault;
        LOG.error(
                "request {} failed with 099",
                RequestIds.inAscii(id),
                isForClients ? thrown : WithoutMessage.of(thrown));
        return of(ErrorCode.FAULT, isForClients ? thrown.getMessage() : FAULT, id);
    }

    private static RequestId idUnlessOutOfMemory(Supplier<RequestId> requestId) {
        try {
            return requestId.get();
        } catch (OutOfMemoryError still) {
            return null;
        }
    }

    /** Stands in the log for a throwable, without its message, which may quote what a client sent. */
    private static final class WithoutMessage extends Throwable {
        private static final long serialVersionUID = 1L;

        private WithoutMessage(Throwable thrown, Throwable mutedCause) {
            super(thrown.getClass().getName(), mutedCause, false, true);
            setStackTrace(thrown.getStackTrace());
        }

        static WithoutMessage of(Throwable thrown) {
            Throwable cause = thrown.getCause();
            return new WithoutMessage(thrown, cause == null ? null : of(cause));
        }
    }
}
