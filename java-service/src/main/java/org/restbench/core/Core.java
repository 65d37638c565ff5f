package org.restbench.core;

import java.util.List;
import java.util.Map;
import org.restbench.core.Catalogue.PathMatch;
import org.restbench.core.Catalogue.Route;
import org.restbench.core.Pages.Page;
import org.restbench.execution.WorkLimits;
import org.restbench.memory.MemoryBudget;

/**
 * The service without HTTP: what a request is answered, whatever received it. Checks come in the contract's order.
 *
 * <p>A framework calls {@link #open} with a request's head. Where that gives an {@link Exchange}, it hands over the
 * body, in pieces or as a stream, lets it wait, and lets it run. It sends the {@link Reply} it gets from any of these,
 * and says that it is sent.
 *
 * @param pages by their path, what is there to GET
 * @param memory of all requests together
 * @param limits of the work of one request
 * @param delays that requests ask for
 * @param maxBodyBytes above it a body is refused
 */
public record Core(
        Catalogue catalogue,
        Map<String, Page> pages,
        Admission admission,
        MemoryBudget memory,
        WorkLimits limits,
        Delays delays,
        int maxBodyBytes) {
    /** A page of more may have to wait for its client. */
    private static final int LONG_PAGE_BYTES = 64 << 10;

    /** Never throws. */
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
            return catalogue.refusal(head.rawPath(), Errors.refusal(thrown, () -> null));
        }
    }

    /** A long page has a place in flight, and memory for what the server copies, until it is sent. */
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

    /** What a server has refused by itself, in the contract's form. Jetty knows no path {@code *}. */
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
