package org.restbench.web;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.CompletionException;
import org.restbench.codec.Codec;
import org.restbench.codec.Query;
import org.restbench.execution.Job;
import org.restbench.execution.WorkLimits;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryRefused;
import org.restbench.workload.RequestId;

/**
 * The only compute route: any workload under any strategy. The checks come in the contract's order. A servlet of its
 * own and no controller of Spring MVC, whose way to one costs more than many a request's work.
 */
public final class WorkloadServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    /**
     * After such a reply a client on these cores gets one: its next request is often there then when Tomcat looks for
     * it, which otherwise asks the kernel to tell, and two threads wake up for what one could have gone on with. After
     * a small one the switch would cost more than that.
     */
    private static final int LARGE_REPLY_BYTES = 32 << 10;

    private final transient Catalogue catalogue;
    private final transient ErrorHandler errors;
    private final transient InFlight inFlight;
    private final transient BodyReader bodies;
    private final transient RequestMetrics metrics;
    private final transient WorkLimits limits;

    /**
     * @param memory of all requests together
     * @param limits of one request's work
     * @param maxBodyBytes above it a body is refused
     * @param maxInFlight requests worked on at once
     */
    public WorkloadServlet(
            Catalogue catalogue,
            ErrorHandler errors,
            MeterRegistry registry,
            MemoryBudget memory,
            WorkLimits limits,
            int maxBodyBytes,
            int maxInFlight) {
        this.limits = limits;
        this.catalogue = catalogue;
        this.errors = errors;
        this.inFlight = new InFlight(maxInFlight);
        this.bodies = new BodyReader(maxBodyBytes, memory);
        this.metrics = new RequestMetrics(registry, inFlight, memory);
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            handle(request, response);
        } catch (Throwable thrown) { // Refused, where there is no such path
            errors.answer(thrown, response);
        }
    }

    private void handle(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Route route = catalogue.find(request.getRequestURI());
        Admission admission;
        try {
            admission = admit(request);
        } catch (Refused | MemoryRefused refused) {
            send(errors.reply(refused, () -> null), route, response, () -> {});
            return;
        }
        try (admission) {
            send(run(route, request, admission.memory()), route, response, admission::close);
        }
    }

    private Admission admit(HttpServletRequest request) {
        requirePost(request);
        requireJson(request);
        bodies.requireWithinLimit(request);
        return Admission.to(inFlight, () -> bodies.hold(request));
    }

    /**
     * Counts it before it is sent: a client that has the answer finds it counted, and free to send its next request.
     */
    private void send(Reply reply, Route route, HttpServletResponse response, Runnable almost) throws IOException {
        metrics.count(route, reply.status());
        reply.writeTo(response, almost);
        if (reply.body().length >= LARGE_REPLY_BYTES) {
            Thread.yield();
        }
    }

    private Reply run(Route route, HttpServletRequest request, MemoryBudget.Hold memory) {
        byte[] body = null;
        try {
            body = bodies.read(request, memory);
            Query query = new Query(request.getQueryString());
            Job<?, ?> job = new Job<>(route.coded(), body, query, memory, limits, () -> true);
            byte[] product = route.technique()
                    .strategy()
                    .execute(job)
                    .toCompletableFuture()
                    .join();
            return Reply.product(product, ServerTiming.of(job.clock()));
        } catch (Throwable thrown) { // also an Error: the client gets 099, and the log the cause
            byte[] received = body;
            Throwable cause = thrown instanceof CompletionException wrapped ? wrapped.getCause() : thrown;
            return errors.reply(cause, () -> idIn(route.coded().codec(), received));
        }
    }

    private static RequestId idIn(Codec<?, ?> codec, byte[] body) {
        return body == null ? null : codec.identify(body);
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
