package org.restbench.client.calls;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.restbench.client.Outcome;
import org.restbench.client.Outcome.StageTimes;
import org.restbench.client.ServiceRefused;
import org.restbench.client.codec.NpbResult;

/** A call's line in the log. Times are in milliseconds; moments count from the start of the batch, null for never. */
final class Line {
    private Line() {}

    static Map<String, Object> of(Outcome<Runner.CheckResult> outcome, int index) {
        var checked = outcome instanceof Outcome.Done<Runner.CheckResult> own ? own.result() : null;
        var failed = outcome instanceof Outcome.Failed<?> own ? own : null;
        var refused = failed != null && failed.cause() instanceof ServiceRefused own ? own : null;
        StageTimes times = outcome.times();
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("index", index);
        line.put("outcome", outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT));
        line.put("stage", failed == null ? null : failed.stage());
        line.put("kind", failed == null ? null : failed.kind());
        line.put("error_code", refused == null ? null : refused.errorCode());
        line.put("attempts", outcome.attempts());
        line.put("status", checked != null ? (Integer) checked.status() : refused != null ? refused.status() : null);
        line.put("begun_ms", moment(times.begun()));
        line.put("sent_ms", moment(times.sent()));
        line.put("answered_ms", moment(times.answered()));
        line.put("ended_ms", moment(times.ended()));
        line.put("s_ms", times.s() / 1e6);
        line.put("c_ms", times.c() / 1e6);
        line.put("d_ms", times.d() / 1e6);
        line.put("p_ms", times.p() / 1e6);
        line.put("server_timing", checked == null ? null : checked.serverTiming());
        line.put("wrong", checked != null && checked.isWrong());
        if (checked != null && checked.shown() != null) {
            line.put("result", result(checked.shown()));
        }
        return line;
    }

    private static Map<String, Object> result(NpbResult npb) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("kernel", npb.kernel());
        result.put("class", npb.npbClass());
        result.put("verified", npb.verified());
        result.put("value", npb.value());
        result.put("iterations", npb.iterations());
        result.put("kernelSeconds", npb.kernelSeconds());
        result.put("totalSeconds", npb.totalSeconds());
        result.put("mops", npb.mops());
        return result;
    }

    private static Double moment(long nanos) {
        return nanos < 0 ? null : nanos / 1e6;
    }
}
