package org.restbench.settings;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.apache.catalina.core.StandardHost;
import org.apache.coyote.AbstractProtocol;
import org.restbench.web.ContainerErrors;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;

/** Gives the embedded Tomcat what follows from the settings; what does not stands in application.yml. */
final class WebServer implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {
    /** Threads above the limit of requests in flight: they say 008, and answer health and metrics under full load. */
    private static final int SPARE_THREADS = 32;

    private final Settings settings;

    WebServer(Settings settings) {
        this.settings = settings;
    }

    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        factory.setPort(settings.port());
        factory.setAddress(address());
        int threads = settings.maxInFlight() + SPARE_THREADS;
        factory.addConnectorCustomizers(connector -> {
            if (connector.getProtocolHandler() instanceof AbstractProtocol<?> protocol) {
                protocol.setMaxThreads(threads);
                protocol.setProcessorCache(threads);
            }
        });
        factory.addContextCustomizers(context ->
                ((StandardHost) context.getParent()).setErrorReportValveClass(ContainerErrors.class.getName()));
    }

    private InetAddress address() {
        try {
            return InetAddress.getByName(settings.host());
        } catch (UnknownHostException unknown) {
            throw new IllegalStateException("Settings let through an unknown host", unknown);
        }
    }
}
