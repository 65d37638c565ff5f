package org.restbench.framework;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A bare servlet on the same Tomcat: what Spring MVC costs is the difference. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(
        exclude = {
            JettyServletWebServerAutoConfiguration.class, // of two servers Spring Boot would take Jetty
            DispatcherServletAutoConfiguration.class,
            WebMvcAutoConfiguration.class,
            ErrorMvcAutoConfiguration.class
        })
@Import({TomcatServer.class, CoreServlet.Registered.class})
class ServletFramework {}
