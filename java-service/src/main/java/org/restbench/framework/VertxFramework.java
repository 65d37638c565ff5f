package org.restbench.framework;

import org.restbench.core.Core;
import org.restbench.settings.Settings;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The core of Vert.x, which Quarkus stands on: one event loop, and threads for what it must not do. */
@Configuration(proxyBeanMethods = false)
class VertxFramework {
    @Bean
    VertxServer vertxServer(Core core, Settings settings) {
        return new VertxServer(core, settings);
    }
}
