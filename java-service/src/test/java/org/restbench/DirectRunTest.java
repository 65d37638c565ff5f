package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.DirectRun.DirectArguments;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.settings.Settings;
import org.restbench.workload.npb.ft.FourierTransform;
import tools.jackson.databind.JsonNode;

/** A kernel without HTTP. */
class DirectRunTest {
    private static List<String> run(Map<String, String> environment, String arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        run(environment, arguments, out);
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static void run(Map<String, String> environment, String arguments, OutputStream out) {
        DirectRun.run(
                DirectArguments.parse(List.of(arguments.split(" "))),
                Settings.from(environment),
                new OpenHftAffinity(),
                new PrintStream(out, true, StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({"IS,serial", "CG,shared-pool", "MG,pinned", "FT,pipeline"})
    void prints_the_response_of_a_request(String kernel, String strategy) {
        List<String> lines = run(Map.of(), "npb " + kernel + " S --strategy " + strategy);
        assertThat(lines).hasSize(1);
        JsonNode response = ContractExample.JSON.readTree(lines.get(0));
        assertThat(response.get("kernel").asString()).isEqualTo(kernel);
        assertThat(response.get("verified").asBoolean()).isTrue();
    }

    @Test
    void runs_again_in_the_same_process_with_an_input_built_once() {
        List<String> lines = run(Map.of(), "npb IS S --repetitions 3 --cached-input");
        assertThat(lines).hasSize(3).allMatch(line -> line.contains("\"verified\":true"));
        assertThat(lines.get(2)).startsWith("{\"requestId\":\"3\"");
    }

    /** On a full disk all responses were lost, with exit code 0; and where nobody read them, all were computed. */
    @Test
    void ends_where_a_response_cannot_be_written() {
        assertThatThrownBy(() -> run(Map.of(), "npb IS S --repetitions 999999", new FullDisk()))
                .isInstanceOf(DirectRun.Unwritten.class)
                .hasMessage("standard output takes no more");
    }

    @ParameterizedTest
    @CsvSource({
        "npb CG,usage",
        "npb CG S --strategy,usage",
        "npb CG S --warm 3,usage",
        "npb CG S --repetitions 0,--repetitions: must be",
        "npb LU S,'kernel: must be one of IS, CG, MG, FT'",
        "npb cg S,'kernel: must be one of IS, CG, MG, FT'",
        "npb CG s,'class: must be one of S, W, A, B, C'",
        "npb CG W30,'class: must be one of S, W, A, B, C'",
        "npb CG S --strategy thread-per-element,'--strategy: must be one of serial, thread-pool, pinned, shared-pool'"
    })
    void what_cannot_be_run_is_told_in_one_line(String arguments, String message) {
        assertThatThrownBy(() -> run(Map.of(), arguments))
                .isInstanceOf(DirectArguments.InvalidArguments.class)
                .hasMessageStartingWith(message)
                .hasMessageNotContaining("\n");
    }

    @Test
    void a_class_that_would_fit_but_for_what_its_request_holds_already_is_named_too() {
        long alone = FourierTransform.kernel().problems().get(0).workingBytes();
        Map<String, String> full = Map.of("RESTBENCH_MEMORY_BUDGET_BYTES", Long.toString(alone));
        assertThatThrownBy(() -> run(full, "npb FT S")).hasMessageStartingWith("class: S needs ");
    }

    private static final class FullDisk extends OutputStream {
        @Override
        public void write(int any) throws IOException {
            throw new IOException("No space left on device");
        }
    }
}
