package org.restbench.web;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Every route has one media type: what a client says it would accept changes nothing, as the contract has it. A part of
 * the container, as the route of the metrics is not Spring MVC's to configure.
 */
public final class AnyAccept extends ValveBase {
    /** A part of the container that lets asynchronous requests pass, as it does nothing after them. */
    public AnyAccept() {
        super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        request.getCoyoteRequest().getMimeHeaders().removeHeader("Accept");
        getNext().invoke(request, response);
    }
}
