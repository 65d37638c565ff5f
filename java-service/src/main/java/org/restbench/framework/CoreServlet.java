package org.restbench.framework;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.restbench.core.Core;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Gives every request to the core. */
final class CoreServlet extends HttpServlet {
    private final transient Core core;

    private CoreServlet(Core core) {
        this.core = core;
    }

    /** Under all paths. */
    @Configuration(proxyBeanMethods = false)
    static class Registered {
        @Bean
        ServletRegistrationBean<CoreServlet> coreServlet(Core core) {
            return new ServletRegistrationBean<>(new CoreServlet(core), "/");
        }
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) {
        new ServletExchange(request, response).handle(core);
    }
}
