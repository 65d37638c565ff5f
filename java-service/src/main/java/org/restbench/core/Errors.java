package org.restbench.core;

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

/** The one place that maps what was thrown to the refusal that a client gets. */
public final class Errors {
    /** The message of 099 where clients get no details. */
    static final String FAULT = "a fault of the service; its log says more";

    private static final Logger LOG = LoggerFactory.getLogger(Errors.class);

    private Errors() {}

    /**
     * @param requestId reads the request's id; called only where the exception does not have it, as reading is
     *     expensive
     */
    public static Refusal refusal(Throwable thrown, Supplier<RequestId> requestId) {
        if (thrown instanceof RequestRefused refused) {
            return refused.refusal();
        }
        if (thrown instanceof InvalidRequest invalid) {
            return Refusal.of(ErrorCode.of(invalid.code()), invalid.getMessage(), invalid.requestId());
        }
        if (thrown instanceof MemoryRefused refused) {
            return refused.never()
                    ? Refusal.of(ErrorCode.MEMORY, refused.getMessage(), requestId.get())
                    : Refusal.busy(refused.getMessage());
        }
        if (thrown instanceof StoppingException || thrown instanceof RejectedExecutionException) {
            return Refusal.busy("the service is stopping");
        }
        if (thrown instanceof AbandonedException) {
            return Refusal.busy("the client went away before its turn came");
        }
        if (thrown instanceof OutOfMemoryError) {
            LOG.error("request {} met the end of memory or threads", shown(idUnlessOutOfMemory(requestId)), thrown);
            return Refusal.busy(MemoryRefused.now().getMessage());
        }
        return fault(thrown, requestId.get());
    }

    /**
     * The refusal of a request whose work may have taken effect: always 099, as other codes mean that nothing was done.
     */
    static Refusal afterwards(Throwable thrown, Supplier<RequestId> requestId) {
        return fault(thrown, idUnlessOutOfMemory(requestId));
    }

    private static Refusal fault(Throwable thrown, RequestId id) {
        boolean isForClients = thrown instanceof StrategyFault;
        LOG.error("request {} failed with 099", shown(id), isForClients ? thrown : WithoutMessage.of(thrown));
        return Refusal.of(ErrorCode.FAULT, isForClients ? thrown.getMessage() : FAULT, id);
    }

    private static RequestId idUnlessOutOfMemory(Supplier<RequestId> requestId) {
        try {
            return requestId.get();
        } catch (OutOfMemoryError still) {
            return null;
        }
    }

    /** The id for one line of the log, in ASCII without control characters, so that an id cannot forge another line. */
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

    /**
     * Stands for another throwable in the log: it has the class name and the stack trace, but not the message, as any
     * message may quote what a client sent.
     */
    private static final class WithoutMessage extends Throwable {
        private static final long serialVersionUID = 1L;

        private WithoutMessage(Throwable thrown, Throwable mutedCause) {
            super(thrown.getClass().getName(), mutedCause, false, true);
            setStackTrace(thrown.getStackTrace());
        }

        /** Removes the messages of the throwable and of all its causes. */
        static WithoutMessage of(Throwable thrown) {
            Throwable cause = thrown.getCause();
            return new WithoutMessage(thrown, cause == null ? null : of(cause));
        }
    }
}
