package org.restbench.framework;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.buf.EncodedSolidusHandling;
import org.restbench.settings.Settings;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.error.ErrorPage;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Tomcat as shipped, configured from the settings; what they do not decide is in application.yml. */
@Configuration(proxyBeanMethods = false)
class TomcatServer {
    /** Threads above the limit of requests in flight: they say 008, and answer health and metrics under full load. */
    private static final int SPARE_THREADS = 32;

    /** Connections that wait in the kernel to be accepted; Linux takes no more than its net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    /**
     * A connection reads and writes in pieces of this size. Tomcat's 8 KiB cut a body of the study's 1000 rows into 20
     * reads and its answer into 14 writes.
     */
    private static final String BUFFER_BYTES = String.valueOf(32 << 10);

    @Bean
    WebServerFactoryCustomizer<TomcatServletWebServerFactory> limits(Settings settings) {
        return factory -> {
            factory.setPort(settings.port());
            factory.setAddress(address(settings.host()));
            factory.addErrorPages(new ErrorPage("/error")); // the core's answer to what the container refuses
            factory.addConnectorCustomizers(connector -> bound(connector, settings));
        };
    }

    private static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException unknown) {
            throw new IllegalStateException("Settings let through an unknown host", unknown);
        }
    }

    private static void bound(Connector connector, Settings settings) {
        // a path with %2F is answered by the core, as any other path
        connector.setEncodedSolidusHandling(EncodedSolidusHandling.PASS_THROUGH.getValue());
        AbstractHttp11Protocol<?> protocol = (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
        connector.setProperty("socket.appReadBufSize", BUFFER_BYTES);
        connector.setProperty("socket.appWriteBufSize", BUFFER_BYTES);
        int threads = settings.maxInFlight() + SPARE_THREADS;
        protocol.setMaxThreads(threads);
        protocol.setProcessorCache(threads);
        protocol.setMaxConnections(settings.maxConnections());
        protocol.setAcceptCount(BACKLOG);
        protocol.setConnectionTimeout(settings.receiveSeconds() * 1000);
        protocol.setKeepAliveTimeout(settings.keepAliveSeconds() * 1000);
    }

    @Bean
    Framework.Listener listener(ServletWebServerApplicationContext context) {
        return () -> context.getWebServer().getPort();
    }
}
