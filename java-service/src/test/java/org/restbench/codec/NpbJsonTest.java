package org.restbench.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.restbench.workload.RequestId;
import org.restbench.workload.npb.NpbWorkload.NpbResult;
import org.restbench.workload.npb.Problem.Kernel;
import org.restbench.workload.npb.Problem.Outcome;

/** What a kernel found, as JSON. */
class NpbJsonTest {
    @Test
    void the_answer_has_the_contracts_members_in_order() {
        Outcome outcome = new Outcome(true, List.of(1.5), List.of(51.0), 1, 2_000_000_000, 5);
        NpbResult result = new NpbResult(new RequestId("7", true), "T", "S", outcome, 3_000_000_000L);
        byte[] json = new NpbJson(new Kernel("T", List.of())).encode(result);
        assertThat(new String(json, StandardCharsets.UTF_8))
                .isEqualTo("{\"requestId\":\"7\",\"kernel\":\"T\",\"class\":\"S\",\"verified\":true,\"value\":1.5,"
                        + "\"reference\":51,\"iterations\":1,\"kernelSeconds\":2.0,\"totalSeconds\":3.0,"
                        + "\"mops\":2.5}");
    }

    @Test
    void a_number_that_json_does_not_have_is_a_fault() {
        assertThatThrownBy(() -> NpbJson.json(List.of(Double.NaN))).isInstanceOf(ArithmeticException.class);
        assertThat(NpbJson.json(List.of(1.5, -2e9, 0.25, 3e-20))).isEqualTo("[[1.5,-2000000000],[0.25,3.0E-20]]");
    }
}
