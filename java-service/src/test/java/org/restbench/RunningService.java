package org.restbench;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.codec.Workloads;
import org.restbench.framework.Framework;
import org.restbench.settings.Settings;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** The whole service on a free port, in this process. */
final class RunningService extends ServiceUnderTest implements AutoCloseable {
    private final ConfigurableApplicationContext context;

    /** @param compute none, or what workloads do in place of their own, see {@link TestWorkloads} */
    RunningService(Map<String, String> environment, Runnable... compute) {
        Map<String, String> anyPort = new HashMap<>(environment);
        anyPort.put("RESTBENCH_PORT", "0");
        SpringApplicationBuilder service = Application.builder(Settings.from(anyPort), new OpenHftAffinity());
        for (Runnable each : compute) {
            Supplier<Workloads> workloads = () -> TestWorkloads.before(each);
            service.initializers(beans -> ((GenericApplicationContext) beans)
                    .registerBean("testWorkloads", Workloads.class, workloads, it -> it.setPrimary(true)));
        }
        context = service.run();
    }

    static RunningService withDefaults() {
        return new RunningService(Map.of());
    }

    static RunningService under(String framework, Map<String, String> environment, Runnable... compute) {
        Map<String, String> variables = new HashMap<>(environment);
        variables.put("RESTBENCH_FRAMEWORK", framework);
        return new RunningService(variables, compute);
    }

    /** Whether a thread of this process is in a method of the class. */
    static boolean isAnyThreadIn(String className) {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .anyMatch(frame -> frame.getClassName().equals(className));
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    /** Of Spring Boot, under a framework that it knows. */
    WebServer server() {
        return ((WebServerApplicationContext) context).getWebServer();
    }

    @Override
    int port() {
        return context.getBean(Framework.Listener.class).port();
    }

    @Override
    public void close() {
        context.close();
    }
}
