package org.restbench;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;
import org.restbench.affinity.CoreAffinity;
import org.restbench.codec.LogsJson;
import org.restbench.codec.MatrixJson;
import org.restbench.codec.MessagesJson;
import org.restbench.codec.NpbJson;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.core.Admission;
import org.restbench.core.Catalogue;
import org.restbench.core.Core;
import org.restbench.core.Delays;
import org.restbench.core.JsonProtocol;
import org.restbench.core.Metrics;
import org.restbench.core.Pages;
import org.restbench.core.Protocol;
import org.restbench.database.Database;
import org.restbench.database.FreeSpace;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies;
import org.restbench.framework.Framework;
import org.restbench.memory.MemoryBudget;
import org.restbench.settings.Settings;
import org.restbench.settings.Settings.Cores;
import org.restbench.settings.Settings.DatabaseSettings;
import org.restbench.soap.SoapProtocol;
import org.restbench.workload.logs.LogsWorkload;
import org.restbench.workload.matrix.MatrixWorkload;
import org.restbench.workload.messages.MessagesWorkload;
import org.restbench.workload.npb.InputCache;
import org.restbench.workload.npb.NpbWorkload;
import org.restbench.workload.npb.Problem.Kernel;
import org.restbench.workload.npb.cg.ConjugateGradient;
import org.restbench.workload.npb.ft.FourierTransform;
import org.restbench.workload.npb.is.IntegerSort;
import org.restbench.workload.npb.mg.Multigrid;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;

/**
 * Creates the beans of the service explicitly, without component scanning. {@link Settings}, {@link Cores},
 * {@link CoreAffinity} and the {@link Framework} are registered by {@code Application}.
 */
@Configuration(proxyBeanMethods = false)
public class Wiring {
    private static final List<Kernel> KERNELS =
            List.of(IntegerSort.kernel(), ConjugateGradient.kernel(), Multigrid.kernel(), FourierTransform.kernel());

    /** The budget of all requests together. Data that is kept between requests takes its memory from it as well. */
    @Bean
    MemoryBudget memoryBudget(Settings settings) {
        return new MemoryBudget(settings.memoryBudgetBytes());
    }

    @Bean
    public Workloads workloads(Settings settings, MemoryBudget memory) {
        InputCache inputs = new InputCache(memory);
        List<CodedWorkload<?, ?>> all = new ArrayList<>();
        all.add(new CodedWorkload<>(new MatrixWorkload(), new MatrixJson(settings.mostProductElements())));
        all.add(new CodedWorkload<>(new LogsWorkload(), new LogsJson()));
        KERNELS.forEach(kernel -> all.add(new CodedWorkload<>(new NpbWorkload(kernel, inputs), new NpbJson(kernel))));
        if (settings.database().url() != null) {
            all.addAll(messages(settings.database(), memory));
        }
        return Workloads.of(all);
    }

    private static List<? extends CodedWorkload<?, ?>> messages(DatabaseSettings settings, MemoryBudget memory) {
        Database database = new Database(settings.url(), settings.password(), settings.connections());
        FreeSpace space = FreeSpace.of(settings.freePath(), settings.minFreeBytes());
        MessagesWorkload messages = new MessagesWorkload(
                database, space, memory, settings.maxMessageCharacters(), settings.receiptSeconds());
        return MessagesJson.operations(messages, settings.maxMessageCharacters());
    }

    @Bean
    public Strategies strategies(Settings settings, Cores cores, CoreAffinity affinity) {
        return new Strategies(
                affinity,
                cores.pinned(),
                cores.allowed().size(),
                settings.pipelineQueue(),
                settings.maxThreads(),
                settings.poolThreads());
    }

    @Bean
    Admission admission(Settings settings) {
        return new Admission(settings.maxInFlight(), "in flight");
    }

    @Bean
    Delays delays(Settings settings) {
        return new Delays(settings.maxDelayMillis(), settings.maxInFlight());
    }

    /** Ends the delays before the server stops, as the server then waits for the requests in flight. */
    @Bean
    ApplicationListener<ContextClosedEvent> endDelays(Delays delays) {
        return closed -> delays.end();
    }

    @Bean
    Metrics metrics(Admission admission, Delays delays, MemoryBudget memory, Strategies strategies) {
        return new Metrics(admission, delays, memory, strategies.adaptive());
    }

    @Bean
    Core core(
            Settings settings,
            Cores cores,
            CoreAffinity affinity,
            Framework framework,
            Workloads workloads,
            Strategies strategies,
            Admission admission,
            Delays delays,
            MemoryBudget memory,
            Metrics metrics)
            throws IOException {
        Properties build =
                PropertiesLoaderUtils.loadProperties(new ClassPathResource("META-INF/build-info.properties"));
        String handoff = framework.handoff(settings.handoff());
        Map<String, Object> shown = settings.shown(cores);
        Optional<MessagesWorkload> messages = messagesOf(workloads);
        messages.ifPresent(it -> metrics.countRetries(it.retries()));
        List<String> collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName)
                .toList();
        Supplier<Map<String, Object>> health = () -> {
            Map<String, Object> said = new LinkedHashMap<>();
            said.put("status", "ok");
            said.put("service", "java");
            said.put("framework", framework.name());
            said.put("server", framework.server());
            said.put("workers", 1); // number of processes that serve
            said.put("handoff", handoff);
            said.put("version", build.getProperty("build.version"));
            said.put("runtime", System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"));
            said.put("collectors", collectors);
            said.put("cores", affinity.coresOfProcess().stream().boxed().toList());
            said.put("settings", shown);
            said.put("adaptive", strategies.adaptive().facts());
            messages.ifPresent(it -> said.put("database", Map.of("up", it.isUp())));
            return said;
        };
        List<Protocol> protocols = new ArrayList<>(JsonProtocol.of(workloads));
        Map<String, Pages.Page> descriptions = new LinkedHashMap<>();
        if (framework.kind() == WebApplicationType.SERVLET) { // a SOAP request keeps the server's thread
            for (SoapProtocol soap : SoapProtocol.of(workloads)) {
                protocols.add(soap);
                descriptions.put("/" + soap.name(), soap::description);
            }
        }
        Catalogue catalogue = new Catalogue(protocols, strategies.all(), metrics);
        Map<String, Pages.Page> pages =
                Pages.of(catalogue, metrics, health, build.getProperty("build.swagger-ui"), descriptions);
        WorkLimits work =
                new WorkLimits(settings.maxLoopOperations(), settings.maxOperations(), settings.maxRequestThreads());
        return new Core(catalogue, pages, admission, memory, work, delays, settings.maxBodyBytes());
    }

    private static Optional<MessagesWorkload> messagesOf(Workloads workloads) {
        return Optional.ofNullable(workloads.byName().get("messages"))
                .map(CodedWorkload::workload)
                .map(MessagesWorkload.class::cast);
    }
}
