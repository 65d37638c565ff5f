package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.codec.LogsJson;
import org.restbench.codec.RequestIds;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.execution.Strategies;
import org.restbench.execution.Strategies.Technique;
import org.restbench.execution.StrategiesOf;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.logs.LogLines;
import org.restbench.workload.logs.LogsWorkload;

/** Every strategy gives the bytes that four engines agree on, for lines that a seed draws. */
class LogsStrategiesTest {
    private static final Strategies STRATEGIES = StrategiesOf.cores(2);
    private static final MemoryBudget MEMORY = new MemoryBudget(1L << 30);
    private static final CodedWorkload<?, ?> LOGS = new CodedWorkload<>(new LogsWorkload(), new LogsJson());

    @AfterAll
    static void close() {
        STRATEGIES.close();
    }

    static List<Technique> all() {
        return STRATEGIES.all();
    }

    private static long answer(Technique technique, String ruleSet, int seed, int count) {
        String lines =
                LogLines.drawn(seed, count).stream().map(RequestIds::quote).collect(Collectors.joining(","));
        String body = "{\"requestId\":1,\"ruleSet\":\"" + ruleSet + "\",\"lines\":[" + lines + "]}";
        CRC32 crc = new CRC32();
        crc.update(StrategiesOf.answer(technique.strategy(), LOGS, body, MEMORY));
        return crc.getValue();
    }

    @ParameterizedTest
    @CsvSource({
        "R16,2125131253,2596257181,23595475,1581067350",
        "R64,1389998892,3986211368,1388078659,3635227010",
        "R256,2881100947,2063606384,2733289716,1239037649",
        "R1024,195877173,1848691888,152804903,2877188418"
    })
    void the_answer_is_the_one_that_four_engines_agree_on(
            String rules, long one, long ten, long hundred, long thousand) {
        Technique serial = all().get(0);
        assertThat(serial.name()).isEqualTo("serial");
        assertThat(List.of(
                        answer(serial, rules, 1, 1),
                        answer(serial, rules, 1, 10),
                        answer(serial, rules, 1, 100),
                        answer(serial, rules, 1, 1000)))
                .containsExactly(one, ten, hundred, thousand);
    }

    @ParameterizedTest
    @MethodSource("all")
    void every_strategy_takes_it_and_gives_the_same_bytes(Technique technique) {
        assertThat(technique.takes(LOGS.workload())).isTrue();
        assertThat(answer(technique, "R64", 1, 100)).isEqualTo(1388078659L);
        assertThat(answer(technique, "R1024", 1, 10)).isEqualTo(1848691888L);
    }

    @Test
    void so_are_those_of_other_seeds() {
        assertThat(answer(all().get(0), "R64", 2, 100)).isEqualTo(2340433565L);
        assertThat(answer(all().get(0), "R64", 3, 100)).isEqualTo(3708627183L);
    }
}
