package org.restbench.web;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.restbench.execution.StageClock;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.RequestMapping;

/** The only compute route: any workload under any strategy. The checks come in the contract's order. */
@Controller
public final class WorkloadController {
    private final Catalogue catalogue;
    private final ErrorHandler errors;
    private final InFlight inFlight;
    private final BodyReader bodies;
    private final RequestMetrics metrics;

    /**
     * @param maxBodyBytes above it a body is refused
     * @param maxInFlight requests worked on at once
     */
    public WorkloadController(
            Catalogue catalogue, ErrorHandler errors, MeterRegistry registry, int maxBodyBytes, int maxInFlight) {
        this.catalogue = catalogue;
        this.errors = errors;
        this.inFlight = new InFlight(maxInFlight);
        this.bodies = new BodyReader(maxBodyBytes);
        this.metrics = new RequestMetrics(registry, inFlight);
    }

    @RequestMapping("/{workload}/{strategy}")
    void handle(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Route route = catalogue.find(request.getRequestURI());
        Reply reply = answer(route, request);
        // counted before it is sent: a client that has the answer finds it counted, and free to send its next request
        metrics.count(route, reply.status());
        reply.writeTo(response);
    }

    private Reply answer(Route route, HttpServletRequest request) {
        try {
            requirePost(request);
            requireJson(request);
            bodies.requireWithinLimit(request);
            inFlight.enter();
        } catch (Refused refused) {
            return refused.reply();
        }
        try {
            return run(route, request);
        } finally {
            inFlight.leave();
        }
    }

    private Reply run(Route route, HttpServletRequest request) {
        StageClock clock = new StageClock();
        Workload<?, ?> workload = route.factory().forRequest(name -> Query.values(request.getQueryString(), name));
        byte[] body = null;
        try {
            body = bodies.read(request);
            byte[] product = route.technique().strategy().execute(workload, body, clock);
            return Reply.product(product, ServerTiming.of(clock));
        } catch (Throwable thrown) { // also an Error: the client gets 099, and the log the cause
            byte[] received = body;
            return errors.reply(thrown, () -> idIn(workload, received));
        }
    }

    private static RequestId idIn(Workload<?, ?> workload, byte[] body) {
        return body == null ? null : workload.identify(body);
    }

    private static void requirePost(HttpServletRequest request) {
        if (!request.getMethod().equals("POST")) {
            throw Refused.wrongMethod("POST");
        }
    }

    /** The media type without regard to case and parameters. */
    private static void requireJson(HttpServletRequest request) {
        String type = request.getContentType();
        if (type == null || !type.split(";", 2)[0].strip().equalsIgnoreCase("application/json")) {
            throw Refused.notJson();
        }
    }
}
