package org.restbench.web;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Gives every response the headers of a service whose answers are data: a browser that is shown one guesses, keeps,
 * loads and runs nothing (Fetch's nosniff, Content-Security-Policy level 3). A part of the container and no servlet
 * filter, as it must also see what never reaches a servlet, and cost next to nothing.
 */
public final class SecurityHeaders extends ValveBase {
    private static final String POLICY = "Content-Security-Policy";

    /**
     * For Swagger UI, which loads its own files and this service's contract: its icons are data: images in its style
     * sheet; the hash is that of its logo's style.
     */
    private static final String PAGE = "default-src 'none'; script-src 'self'; connect-src 'self'; "
            + "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; "
            + "img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

    /** A part of the container that lets asynchronous requests pass, as it does nothing after them. */
    public SecurityHeaders() {
        super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        addTo(response);
        getNext().invoke(request, response);
    }

    /** For a response that was begun anew. */
    static void addTo(HttpServletResponse response) {
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setHeader("Cache-Control", "no-store");
        response.setHeader(POLICY, "default-src 'none'; frame-ancestors 'none'");
        response.setHeader("Referrer-Policy", "no-referrer");
    }

    /** For the page of the contract: what it needs and no more. */
    static void letPageRun(HttpServletResponse response) {
        response.setHeader(POLICY, PAGE);
    }
}
