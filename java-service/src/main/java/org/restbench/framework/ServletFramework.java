package org.restbench.framework;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.restbench.core.Core;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A bare servlet on the Tomcat of {@link TomcatFramework}: the difference is the cost of Spring MVC. */
@Configuration(proxyBeanMethods = false)
// Spring Boot would choose Jetty where both are present
@EnableAutoConfiguration(exclude = JettyServletWebServerAutoConfiguration.class)
@Import({TomcatFramework.Server.class, ServletFramework.Registration.class})
class ServletFramework {
    /** The servlet in place of Spring MVC. What is excluded here is so in the configurations that import this one. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {
                DispatcherServletAutoConfiguration.class,
                WebMvcAutoConfiguration.class,
                ErrorMvcAutoConfiguration.class
            })
    static class Registration {
        @Bean
        ServletRegistrationBean<CoreServlet> coreServlet(Core core) {
            return new ServletRegistrationBean<>(new CoreServlet(core), "/");
        }
    }

    private static final class CoreServlet extends HttpServlet {
        private final transient Core core;

        CoreServlet(Core core) {
            this.core = core;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) {
            new ServletExchange(request, response).handle(core);
        }
    }
}
