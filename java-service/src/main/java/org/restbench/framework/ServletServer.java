package org.restbench.framework;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.restbench.settings.Settings;
import org.springframework.boot.web.error.ErrorPage;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.servlet.ConfigurableServletWebServerFactory;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What follows from the settings for every servlet container. */
@Configuration(proxyBeanMethods = false)
class ServletServer {
    /** Threads above the limit of requests in flight: they say 008, and answer health and metrics under full load. */
    private static final int SPARE_THREADS = 32;

    @Bean
    WebServerFactoryCustomizer<ConfigurableServletWebServerFactory> place(Settings settings) {
        return factory -> {
            factory.setPort(settings.port());
            factory.setAddress(address(settings.host()));
            factory.addErrorPages(new ErrorPage("/error")); // the core's answer to what the container refuses
        };
    }

    private static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException unknown) {
            throw new IllegalStateException("Settings let through an unknown host", unknown);
        }
    }

    /** Threads that read requests and run them. */
    static int threads(Settings settings) {
        return settings.maxInFlight() + SPARE_THREADS;
    }

    @Bean
    Framework.Listener listener(ServletWebServerApplicationContext context) {
        return () -> context.getWebServer().getPort();
    }
}
