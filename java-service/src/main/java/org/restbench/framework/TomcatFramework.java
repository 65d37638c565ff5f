package org.restbench.framework;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.buf.EncodedSolidusHandling;
import org.restbench.core.Core;
import org.restbench.settings.Settings;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Spring MVC on Tomcat: what users of spring-boot-starter-web run. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(
        exclude = {
            JettyServletWebServerAutoConfiguration.class, // Spring Boot would choose Jetty where both are present
            ErrorMvcAutoConfiguration.class // the core answers errors
        })
@Import({TomcatFramework.Server.class, TomcatFramework.CoreController.class})
class TomcatFramework {
    /** Tomcat as shipped, configured from the settings; application.yml has the rest of the configuration. */
    @Configuration(proxyBeanMethods = false)
    @Import(ServletServer.class)
    static class Server {
        /** Tomcat's 8 KiB would cut a body of the study's 1000 rows into 20 reads, its answer into 14 writes. */
        private static final String BUFFER_BYTES = String.valueOf(32 << 10);

        /**
         * The timeout of a request that is answered later: practically none. Tomcat's own value for none is 0, but with
         * 0 it checks once a second whether the application of each such request still runs. As Tomcat reuses request
         * objects, this check may take a request that is just beginning for one that is left over, and then ends that
         * request and its connection without a log entry.
         */
        static final long NO_TIMEOUT = Long.MAX_VALUE;

        @Bean
        WebServerFactoryCustomizer<TomcatServletWebServerFactory> limits(Settings settings) {
            return factory -> factory.addConnectorCustomizers(connector -> bound(connector, settings));
        }

        private static void bound(Connector connector, Settings settings) {
            // a path with %2F, %5C or bytes that are not UTF-8 is answered by the core, as any other path
            connector.setEncodedSolidusHandling(EncodedSolidusHandling.PASS_THROUGH.getValue());
            connector.setEncodedReverseSolidusHandling(EncodedSolidusHandling.PASS_THROUGH.getValue());
            connector.setURIEncoding(StandardCharsets.ISO_8859_1.name());
            connector.setAsyncTimeout(NO_TIMEOUT);
            AbstractHttp11Protocol<?> protocol = (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
            connector.setProperty("socket.appReadBufSize", BUFFER_BYTES);
            connector.setProperty("socket.appWriteBufSize", BUFFER_BYTES);
            int threads = ServletServer.threads(settings);
            protocol.setMaxThreads(threads);
            protocol.setProcessorCache(threads);
            protocol.setMaxConnections(settings.maxConnections());
            protocol.setAcceptCount(Framework.BACKLOG);
            protocol.setConnectionTimeout(settings.receiveSeconds() * 1000);
            protocol.setKeepAliveTimeout(settings.keepAliveSeconds() * 1000);
        }
    }

    /**
     * Gives the core the preflight requests of browsers, too, as Spring would otherwise answer them by itself. Spring
     * asks for no other request, as no handler has rules about origins.
     */
    @Bean
    WebMvcRegistrations preflights(Core core) {
        return new WebMvcRegistrations() {
            @Override
            public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
                RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping();
                mapping.setCorsProcessor((rules, request, response) -> {
                    new ServletExchange(request, response).handle(core);
                    return false;
                });
                return mapping;
            }
        };
    }

    /** Gives every request to the core, whatever its path and method. */
    @Controller
    static final class CoreController {
        private final Core core;

        CoreController(Core core) {
            this.core = core;
        }

        @RequestMapping("/**")
        void handle(HttpServletRequest request, HttpServletResponse response) {
            new ServletExchange(request, response).handle(core);
        }

        /** OPTIONS by name, as Spring would otherwise answer it by itself. */
        @RequestMapping(path = "/**", method = RequestMethod.OPTIONS)
        void handleOptions(HttpServletRequest request, HttpServletResponse response) {
            handle(request, response);
        }
    }
}
