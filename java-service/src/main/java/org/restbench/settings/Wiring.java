package org.restbench.settings;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.LinkedHashMap;
import java.util.Map;
import org.restbench.affinity.BackgroundThreads;
import org.restbench.affinity.CoreAffinity;
import org.restbench.execution.AdaptiveStrategy;
import org.restbench.execution.Calibration;
import org.restbench.execution.CalibrationFile;
import org.restbench.execution.Strategies;
import org.restbench.memory.MemoryBudget;
import org.restbench.web.Catalogue;
import org.restbench.web.DecisionMetrics;
import org.restbench.web.DocsController;
import org.restbench.web.ErrorHandler;
import org.restbench.web.HealthController;
import org.restbench.web.ThreadMetrics;
import org.restbench.web.WorkloadServlet;
import org.restbench.workload.WorkloadFactory;
import org.restbench.workload.Workloads;
import org.restbench.workload.matrix.MatrixWorkload;
import org.restbench.workload.npb.InputCache;
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
        Map<String, WorkloadFactory> byName = new LinkedHashMap<>();
        byName.put("matrix", MatrixWorkload.factory(settings.limits().mostProductElements()));
        byName.put("npb-is", NpbWorkload.factory(IntegerSort.kernel(), inputs, memory.totalBytes()));
        byName.put("npb-cg", NpbWorkload.factory(ConjugateGradient.kernel(), inputs, memory.totalBytes()));
        byName.put("npb-mg", NpbWorkload.factory(Multigrid.kernel(), inputs, memory.totalBytes()));
        byName.put("npb-ft", NpbWorkload.factory(FourierTransform.kernel(), inputs, memory.totalBytes()));
        return new Workloads(byName);
    }

    /** Of all requests together; whatever is kept between requests takes its own from here as well. */
    @Bean
    MemoryBudget memoryBudget(Settings settings) {
        return new MemoryBudget(settings.limits().memoryBudgetBytes());
    }

    /** Of which nothing is measured before it is asked. */
    @Bean
    public Calibration calibration(Settings settings, Cores cores, Workloads workloads, MemoryBudget memory) {
        String key = Fingerprint.of(cores.allowed().size());
        return new Calibration(workloads, memory, new CalibrationFile(settings.calibrationFile(), key));
    }

    /** Threads for what is not to keep anything else waiting. */
    @Bean
    public BackgroundThreads backgroundThreads() {
        return new BackgroundThreads(AdaptiveStrategy.WORKERS);
    }

    @Bean
    public Strategies strategies(
            Settings settings,
            Cores cores,
            CoreAffinity affinity,
            BackgroundThreads background,
            Calibration calibration) {
        return new Strategies(
                affinity,
                cores.pinned(),
                cores.allowed().size(),
                settings.pipelineQueue(),
                settings.limits().maxThreads(),
                background,
                calibration::costs);
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
        WorkloadServlet servlet =
                new WorkloadServlet(catalogue, errors, registry, memory, limits.maxBodyBytes(), limits.maxInFlight());
        return new ServletRegistrationBean<>(servlet, catalogue.paths().toArray(String[]::new));
    }

    @Bean
    HealthController healthController(
            BuildProperties build,
            CoreAffinity affinity,
            Cores cores,
            Settings settings,
            BackgroundThreads background,
            Calibration calibration) {
        Map<String, Object> shown = settings.shown(cores);
        Map<String, Object> adaptive = calibration.shown();
        adaptive.put("givesWay", background.giveWay());
        shown.put("adaptive", adaptive);
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
