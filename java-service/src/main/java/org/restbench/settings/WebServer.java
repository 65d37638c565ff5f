package org.restbench.settings;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.apache.catalina.core.StandardHost;
import org.restbench.connection.DeadlineProtocol;
import org.restbench.web.AnyAccept;
import org.restbench.web.ContainerErrors;
import org.restbench.web.NoOptions;
import org.restbench.web.SecurityHeaders;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;

/** Gives the embedded Tomcat what follows from the settings; what does not stands in application.yml. */
final class WebServer implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {
    /** Threads above the limit of requests in flight: they say 008, and answer health and metrics under full load. */
    private static final int SPARE_THREADS = 32;

    /** Connections that wait in the kernel to be accepted; Linux takes no more than its net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    /**
     * A connection reads and writes in pieces of this size. Tomcat's 8 KiB cut a body of the study's 1000 rows into 20
     * reads and the answer into 14 writes, each of which may wake the client and give it the core.
     */
    private static final int BUFFER_BYTES = 32 << 10;

    private final Settings settings;

    WebServer(Settings settings) {
        this.settings = settings;
    }

    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        factory.setPort(settings.port());
        factory.setAddress(address());
        factory.setProtocol(DeadlineProtocol.class.getName());
        factory.addConnectorCustomizers(connector -> bound((DeadlineProtocol) connector.getProtocolHandler()));
        factory.addEngineValves(new SecurityHeaders(), new AnyAccept(), new NoOptions());
        factory.addContextCustomizers(context ->
                ((StandardHost) context.getParent()).setErrorReportValveClass(ContainerErrors.class.getName()));
    }

    private void bound(DeadlineProtocol protocol) {
        Limits limits = settings.limits();
        Deadlines deadlines = settings.deadlines();
        int threads = limits.maxInFlight() + SPARE_THREADS;
        protocol.setMaxThreads(threads);
        protocol.setProcessorCache(threads);
        protocol.setMaxConnections(limits.maxConnections());
        protocol.setAcceptCount(BACKLOG);
        protocol.setBuffers(BUFFER_BYTES);
        protocol.setConnectionTimeout(deadlines.receiveSeconds() * 1000);
        protocol.setKeepAliveTimeout(deadlines.keepAliveSeconds() * 1000);
        protocol.setDeadlines(deadlines.receiveSeconds(), deadlines.sendSeconds());
        // a body that is refused before it is read is read all the same: closing at once would be a reset, which takes
        // the answer from a client that is still sending
        protocol.setMaxSwallowSize(limits.maxBodyBytes());
    }

    private InetAddress address() {
        try {
            return InetAddress.getByName(settings.host());
        } catch (UnknownHostException unknown) {
            throw new IllegalStateException("Settings let through an unknown host", unknown);
        }
    }
}
