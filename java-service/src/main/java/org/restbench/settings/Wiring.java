package org.restbench.settings;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Map;
import org.restbench.affinity.CoreAffinity;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.MatrixJson;
import org.restbench.codec.NpbJson;
import org.restbench.codec.Workloads;
import org.restbench.execution.Strategies;
import org.restbench.execution.WorkLimits;
import org.restbench.memory.MemoryBudget;
import org.restbench.web.Catalogue;
import org.restbench.web.DecisionMetrics;
import org.restbench.web.DocsController;
import org.restbench.web.ErrorHandler;
import org.restbench.web.HealthController;
import org.restbench.web.ThreadMetrics;
import org.restbench.web.WorkloadServlet;
import org.restbench.workload.matrix.MatrixWorkload;
import org.restbench.workload.npb.InputCache;
import org.restbench.workload.npb.Kernel;
import org.restbench.workload.npb.NpbWorkload;
import org.restbench.workload.npb.cg.ConjugateGradient;
import org.restbench.workload.npb.ft.FourierTransform;
import org.restbench.workload.npb.is.IntegerSort;
import org.restbench.workload.npb.mg.Multigrid;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Puts the service together; nothing is found by scanning. {@link Settings}, {@link Cores} and {@link CoreAffinity} are
 * registered by {@code Application}.
 */
@Configuration(proxyBeanMethods = false)
public class Wiring {
    /** The table of workloads: name in the path → how to make one. */
    @Bean
    public Workloads workloads(Settings settings, MemoryBudget memory) {
        InputCache inputs = new InputCache(memory);
        return Workloads.of(List.of(
                new CodedWorkload<>(
                        new MatrixWorkload(), new MatrixJson(settings.limits().mostProductElements())),
                npb(IntegerSort.kernel(), inputs, memory),
                npb(ConjugateGradient.kernel(), inputs, memory),
                npb(Multigrid.kernel(), inputs, memory),
                npb(FourierTransform.kernel(), inputs, memory)));
    }

    private static CodedWorkload<?, ?> npb(Kernel kernel, InputCache inputs, MemoryBudget memory) {
        return new CodedWorkload<>(new NpbWorkload(kernel, inputs), new NpbJson(kernel, memory.totalBytes()));
    }

    /** Of all requests together; whatever is kept between requests takes its own from here as well. */
    @Bean
    MemoryBudget memoryBudget(Settings settings) {
        return new MemoryBudget(settings.limits().memoryBudgetBytes());
    }

    @Bean
    public Strategies strategies(Settings settings, Cores cores, CoreAffinity affinity) {
        return new Strategies(
                affinity,
                cores.pinned(),
                cores.allowed().size(),
                settings.pipelineQueue(),
                settings.limits().maxThreads());
    }

    @Bean
    DecisionMetrics decisionMetrics(Strategies strategies) {
        return new DecisionMetrics(strategies.adaptive());
    }

    @Bean
    ThreadMetrics threadMetrics() {
        return new ThreadMetrics();
    }

    @Bean
    Catalogue catalogue(Workloads workloads, Strategies strategies) {
        return new Catalogue(workloads, strategies.all());
    }

    @Bean
    ErrorHandler errorHandler() {
        return new ErrorHandler();
    }

    @Bean
    ServletRegistrationBean<WorkloadServlet> workloadServlet(
            Catalogue catalogue, ErrorHandler errors, MeterRegistry registry, MemoryBudget memory, Settings settings) {
        Limits limits = settings.limits();
        WorkLimits work = new WorkLimits(200_000_000, 10_000_000_000L, 100_000);
        WorkloadServlet servlet = new WorkloadServlet(
                catalogue, errors, registry, memory, work, limits.maxBodyBytes(), limits.maxInFlight());
        return new ServletRegistrationBean<>(servlet, catalogue.paths().toArray(String[]::new));
    }

    @Bean
    HealthController healthController(
            BuildProperties build, CoreAffinity affinity, Cores cores, Settings settings, Strategies strategies) {
        Map<String, Object> shown = settings.shown(cores);
        shown.put("adaptive", strategies.adaptive().facts());
        return new HealthController(build.getVersion(), affinity, shown);
    }

    @Bean
    DocsController docsController(BuildProperties build) {
        return new DocsController(build.get("swagger-ui"));
    }

    @Bean
    WebServer webServer(Settings settings) {
        return new WebServer(settings);
    }
}
