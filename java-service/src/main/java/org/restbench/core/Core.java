package org.restbench.core;

import java.util.List;
import java.util.Map;
import org.restbench.core.Catalogue.PathMatch;
import org.restbench.core.Catalogue.Route;
import org.restbench.core.Pages.Page;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.memory.MemoryBudget;

/**
 * The service without the HTTP server: it answers requests, whichever framework has received them. Requests are checked
 * in the contract's order.
 *
 * <p>A framework calls {@link #open} with a request's head. Where the result is an {@link Exchange}, the framework
 * gives it the body, in pieces or as a stream, waits for {@link Exchange#delayed}, and calls {@link Exchange#run}. It
 * sends the {@link Reply} that any of these calls returns, and calls {@link Reply#sent}.
 *
 * @param pages what GET returns, by path
 * @param maxBodyBytes size of the largest body; a larger one is refused
 */
public record Core(
        Catalogue catalogue,
        Map<String, Page> pages,
        Admission admission,
        MemoryBudget memory,
        WorkLimits limits,
        Delays delays,
        int maxBodyBytes) {
    /** Result of {@link #open}. */
    public sealed interface OpenResult permits Reply, Exchange {}

    /** A longer page may have to wait until its client reads it. */
    private static final int LONG_PAGE_BYTES = 64 << 10;

    /** Returns the reply where the head suffices for it, else an exchange for the body. Never throws. */
    public OpenResult open(Head head) {
        PathMatch found = catalogue.find(head.rawPath());
        if (found == null) {
            return page(head);
        }
        Route route = found.routes().get(head.method());
        if (route == null) {
            return found.refusedMethod();
        }
        String fault = route.protocol().mediaTypeFault(head.contentType());
        if (fault != null) {
            return route.refused(Refusal.wrongMediaType(fault));
        }
        Exchange exchange = new Exchange(this, route, head, found.open());
        try {
            exchange.open();
            return exchange;
        } catch (Throwable refused) {
            return exchange.refused(refused);
        }
    }

    private Reply page(Head head) {
        Page page = pages.get(head.rawPath());
        if (page == null) {
            return catalogue.refusal(head.rawPath(), Refusal.noSuchPath());
        }
        try {
            return head.method().equals("GET")
                    ? bounded(page.get(head))
                    : catalogue.refusal(head.rawPath(), Refusal.wrongMethod(List.of("GET")));
        } catch (Throwable thrown) {
            return catalogue.refusal(head.rawPath(), Refusal.of(thrown, () -> null));
        }
    }

    /** A long page counts as a request in flight, and holds memory for the server's copies of it, until it is sent. */
    private Reply bounded(Reply page) {
        if (page.body().length <= LONG_PAGE_BYTES) {
            return page;
        }
        admission.enter();
        try {
            MemoryBudget.Hold hold = memory.hold(2L * page.body().length);
            return page.releasing(() -> {
                hold.close();
                admission.leave();
            });
        } catch (Throwable refused) {
            admission.leave();
            throw refused;
        }
    }

    /** The reply to a request that a server has refused. Jetty refuses the path {@code *} with 404. */
    public Reply refusedByServer(int status) {
        return Reply.error(
                switch (status) {
                    case 404 -> Refusal.noSuchPath();
                    case 413 -> tooLarge();
                    default -> Refusal.byServer(status);
                });
    }

    Refusal tooLarge() {
        return Refusal.of(ErrorCode.TOO_LARGE, "the body is larger than the limit of " + maxBodyBytes + " bytes", null);
    }
}
