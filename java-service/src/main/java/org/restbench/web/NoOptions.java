package org.restbench.web;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * OPTIONS is no method of the contract, so it is a wrong one as any other. Spring MVC would answer it by itself, with
 * methods that no route has, and can only be kept from it by a method that it does not know.
 */
public final class NoOptions extends ValveBase {
    /** A part of the container that lets asynchronous requests pass, as it does nothing after them. */
    public NoOptions() {
        super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        if ("OPTIONS".equals(request.getMethod())) { // what is not HTTP comes here too, without a method
            request.getCoyoteRequest().setMethod("OTHER");
        }
        getNext().invoke(request, response);
    }
}
