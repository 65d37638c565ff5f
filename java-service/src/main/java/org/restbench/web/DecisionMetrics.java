package org.restbench.web;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.restbench.execution.AdaptiveStrategy;
import org.restbench.execution.AdaptiveStrategy.Decision;

/** What the strategy that chooses has chosen, and what waits for it. */
public final class DecisionMetrics implements MeterBinder {
    private final AdaptiveStrategy adaptive;

    public DecisionMetrics(AdaptiveStrategy adaptive) {
        this.adaptive = adaptive;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (Decision decision : Decision.values()) {
            FunctionCounter.builder("restbench.decisions", adaptive, it -> it.decided(decision))
                    .description("Requests that adaptive decided so for")
                    .tag("strategy", "adaptive")
                    .tag("decision", decision.label())
                    .register(registry);
        }
    }
}
