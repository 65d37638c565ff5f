package org.restbench.framework;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.restbench.core.Core;
import org.restbench.core.Reply;
import org.restbench.settings.Settings;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The bare servlet of {@link ServletFramework} on Jetty: only the container differs. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = TomcatServletWebServerAutoConfiguration.class)
@Import({ServletServer.class, ServletFramework.Registration.class})
class JettyFramework {
    /** How long idle connections stay open when the service stops; Spring Boot would wait 10 s for them. */
    private static final long IDLE_AT_STOP_MS = 1000;

    @Bean
    WebServerFactoryCustomizer<JettyServletWebServerFactory> limits(Core core, Settings settings) {
        return factory -> {
            factory.setThreadPool(threads(settings));
            factory.setMaxConnections(settings.maxConnections());
            factory.addServerCustomizers(server -> bound(server, core, settings));
        };
    }

    /** Adds two threads per core for Jetty itself (selectors, the acceptor, reserved ones). */
    private static QueuedThreadPool threads(Settings settings) {
        int own = 2 * Runtime.getRuntime().availableProcessors();
        QueuedThreadPool pool = new QueuedThreadPool(ServletServer.threads(settings) + own);
        pool.setName("http-jetty");
        return pool;
    }

    private static void bound(Server server, Core core, Settings settings) {
        server.setErrorHandler((request, response, callback) -> refuse(core, response, callback));
        for (Connector each : server.getConnectors()) {
            ServerConnector connector = (ServerConnector) each;
            connector.setAcceptQueueSize(Framework.BACKLOG);
            connector.setIdleTimeout(settings.keepAliveSeconds() * 1000L);
            HttpConfiguration http =
                    connector.getConnectionFactory(HttpConnectionFactory.class).getHttpConfiguration();
            http.setIdleTimeout(settings.receiveSeconds() * 1000L);
            http.setUriCompliance(UriCompliance.UNSAFE); // the core answers any path, and compares it as sent
            server.addEventListener(new LifeCycle.Listener() {
                @Override
                public void lifeCycleStarting(LifeCycle starting) {
                    connector.setShutdownIdleTimeout(IDLE_AT_STOP_MS);
                }
            });
        }
    }

    /** Sends the core's reply to a request that Jetty refuses before it reaches the servlet. */
    private static boolean refuse(Core core, Response response, Callback callback) {
        Reply reply = core.refusedByServer(response.getStatus());
        byte[] body = reply.body();
        reply.headers().forEach(response.getHeaders()::put);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        response.write(true, ByteBuffer.wrap(body), callback);
        return true;
    }
}
