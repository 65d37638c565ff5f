package org.restbench.client.calls;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;
import org.restbench.client.Outcome;
import org.restbench.client.ServiceRefused;
import org.restbench.client.StageTimes;
import org.restbench.client.codec.NpbResult;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/** A call in the log; times in milliseconds, moments since the batch began. */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
record Line(
        int index,
        String outcome,
        String stage,
        String kind,
        String errorCode,
        int attempts,
        Integer status,
        Double begunMs,
        Double sentMs,
        Double answeredMs,
        Double endedMs,
        @JsonProperty("s_ms") double s,
        @JsonProperty("c_ms") double c,
        @JsonProperty("d_ms") double d,
        @JsonProperty("p_ms") double p,
        String serverTiming,
        boolean wrong,
        @JsonInclude(JsonInclude.Include.NON_NULL) Result result) {
    /** A kernel's result with the contract's names. */
    record Result(
            String kernel,
            @JsonProperty("class") String npbClass,
            boolean verified,
            java.util.List<Double> value,
            long iterations,
            double kernelSeconds,
            double totalSeconds,
            double mops) {}

    static Line of(Outcome<?> outcome, int index) {
        var failed = outcome instanceof Outcome.Failed<?> own ? own : null;
        var refused = failed != null && failed.cause() instanceof ServiceRefused own ? own : null;
        StageTimes times = outcome.times();
        return new Line(
                index,
                outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT),
                failed == null ? null : failed.stage().name(),
                failed == null ? null : failed.kind().name(),
                failed == null ? null : failed.errorCode(),
                outcome.attempts(),
                refused == null ? null : refused.status(),
                moment(times.begun()),
                moment(times.sent()),
                moment(times.answered()),
                moment(times.ended()),
                times.s() / 1e6,
                times.c() / 1e6,
                times.d() / 1e6,
                times.p() / 1e6,
                null,
                false,
                null);
    }

    Line with(int answered, String timing, boolean isWrong, NpbResult npb) {
        Result shown = npb == null
                ? null
                : new Result(
                        npb.kernel(),
                        npb.npbClass(),
                        npb.verified(),
                        npb.value(),
                        npb.iterations(),
                        npb.kernelSeconds(),
                        npb.totalSeconds(),
                        npb.mops());
        return new Line(
                index,
                outcome,
                stage,
                kind,
                errorCode,
                attempts,
                answered,
                begunMs,
                sentMs,
                answeredMs,
                endedMs,
                s,
                c,
                d,
                p,
                timing,
                isWrong,
                shown);
    }

    private static Double moment(long nanos) {
        return nanos < 0 ? null : nanos / 1e6;
    }
}
