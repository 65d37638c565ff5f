package org.restbench.codec;

import java.util.BitSet;
import java.util.stream.Stream;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.logs.LogsRequest;
import org.restbench.workload.logs.LogsResult;
import org.restbench.workload.logs.RuleSet;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.util.ByteArrayBuilder;

/** The JSON of the workload logs. */
public final class LogsJson implements Codec<LogsRequest, LogsResult> {
    private static final int HEAD_BYTES = 200;

    /** Room that is made beforehand for each line in the answer, and for each rule's count. */
    private static final int USUAL_BYTES = 16;

    private static final class Members {
        private static final int LONGEST_RULE_SET = 100;
        private static final String RULE_SET_FAULT = "ruleSet: must be one of R16, R64, R256, R1024";

        private RequestId id;
        private RuleSet ruleSet;
        private final LinesReader lines;

        Members(JsonReader json, MemoryBudget.Hold memory) {
            lines = new LinesReader(json, memory);
            for (String name = json.nextName(); name != null; name = json.nextName()) {
                switch (name) {
                    case "requestId" -> id = RequestIds.read(json);
                    case "ruleSet" -> ruleSet = readRuleSet(json);
                    case "lines" -> lines.read();
                    default -> json.skipNext();
                }
            }
        }

        private static RuleSet readRuleSet(JsonReader json) {
            String asked = json.nextShortText(LONGEST_RULE_SET);
            return Stream.of(RuleSet.values())
                    .filter(each -> each.name().equals(asked))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** @throws InvalidRequest 002, 003, 005 or 004: the first that applies */
    @Override
    public LogsRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        Members members = Json.read(body, memory, json -> new Members(json, memory));
        InvalidRequest.refuse("003", query.delayFault(), members.id);
        InvalidRequest.refuse("003", members.id == null ? RequestIds.RULE : null, members.id);
        InvalidRequest.refuse("003", members.ruleSet == null ? Members.RULE_SET_FAULT : null, members.id);
        return new LogsRequest(members.id, members.ruleSet, members.lines.lines(members.id));
    }

    /** The contract's members in its order, without white space. */
    @Override
    public byte[] encode(LogsResult result) {
        int[] counts = result.counts();
        ByteArrayBuilder text = new ByteArrayBuilder(HEAD_BYTES + USUAL_BYTES * (result.lines() + counts.length));
        try (JsonGenerator json = Json.WRITER.tokenStreamFactory().createGenerator(ObjectWriteContext.empty(), text)) {
            json.writeStartObject();
            json.writeStringProperty("requestId", result.id().text());
            json.writeStringProperty("ruleSet", result.ruleSet().name());
            json.writeName("alerts");
            json.writeArray(result.alerts(), 0, result.alerts().length);
            json.writeName("counts");
            json.writeArray(counts, 0, counts.length);
            json.writeArrayPropertyStart("fired");
            for (int line = 0; line < result.lines(); line++) {
                json.writeStartArray();
                BitSet fired = result.firedOn(line);
                for (int rule = fired.nextSetBit(0); rule >= 0; rule = fired.nextSetBit(rule + 1)) {
                    json.writeNumber(rule);
                }
                json.writeEndArray();
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        return text.toByteArray();
    }
}
