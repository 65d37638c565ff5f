package org.restbench.framework;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Spring MVC on Tomcat: what users of spring-boot-starter-web run. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(
        exclude = {
            JettyServletWebServerAutoConfiguration.class, // of two servers Spring Boot would take Jetty
            ErrorMvcAutoConfiguration.class // errors are the core's
        })
@Import({TomcatServer.class, CoreController.class})
class TomcatFramework {}
