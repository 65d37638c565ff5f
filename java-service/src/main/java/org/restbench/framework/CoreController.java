package org.restbench.framework;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.restbench.core.Core;
import org.springframework.stereotype.Controller;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;

/** Gives every request to the core, whatever its path and method. */
@Controller
@ControllerAdvice
final class CoreController {
    private final Core core;

    CoreController(Core core) {
        this.core = core;
    }

    /** Lists each method by name, as Spring would otherwise answer OPTIONS by itself. */
    @RequestMapping(
            path = "/**",
            method = {
                RequestMethod.GET,
                RequestMethod.POST,
                RequestMethod.PUT,
                RequestMethod.PATCH,
                RequestMethod.DELETE,
                RequestMethod.HEAD,
                RequestMethod.OPTIONS,
                RequestMethod.TRACE
            })
    void handle(HttpServletRequest request, HttpServletResponse response) {
        new ServletExchange(request, response).handle(core);
    }

    @ExceptionHandler(HttpRequestMethodNotSupportedException.class)
    void handleMethodThatSpringDoesNotKnow(HttpServletRequest request, HttpServletResponse response) {
        handle(request, response);
    }
}
