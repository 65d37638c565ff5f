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

/** Configuration from the settings that all servlet containers share. */
@Configuration(proxyBeanMethods = false)
class ServletServer {
    /** Threads in addition to the limit of requests in flight: under full load, they answer 008, health and metrics. */
    private static final int SPARE_THREADS = 32;

    @Bean
    WebServerFactoryCustomizer<ConfigurableServletWebServerFactory> place(Settings settings) {
        return factory -> {
            factory.setPort(settings.port());
            factory.setAddress(address(settings.host()));
            factory.addErrorPages(new ErrorPage("/error")); // leads to the core's reply where the container refuses
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
