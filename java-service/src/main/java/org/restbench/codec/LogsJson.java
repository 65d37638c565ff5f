package org.restbench.codec;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.logs.LogsWorkload.LogsRequest;
import org.restbench.workload.logs.LogsWorkload.LogsResult;
import org.restbench.workload.logs.RuleSet;
import tools.jackson.core.JsonToken;

/** The JSON of the workload logs. */
public final class LogsJson implements Codec<LogsRequest, LogsResult> {
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
        Iterable<int[]> fired = () -> IntStream.range(0, result.lines())
                .mapToObj(line -> result.firedOn(line).stream().toArray())
                .iterator();
        return Json.WRITER.writeValueAsBytes(
                new Answer(result.id().text(), result.ruleSet().name(), result.alerts(), result.counts(), fired));
    }

    /** @param fired for each line its rules, made one line after the other: all together are as large as the text */
    private record Answer(String requestId, String ruleSet, int[] alerts, int[] counts, Iterable<int[]> fired) {}

    /** Reads the lines in one pass, valid or not. Keeps the first message in the contract's order of each code. */
    static final class LinesReader {
        /** Longest line, in code points. */
        private static final int MOST_CHARACTERS = 4096;

        /** Memory of a line in addition to its characters: the string, its array, and its place in the list. */
        private static final int BYTES_OF_A_LINE = 64;

        /** Memory is reserved in pieces, as each reservation takes as long as a short line. */
        private static final long PIECE_BYTES = 1 << 16;

        private final JsonReader json;
        private final MemoryBudget.Hold memory;
        private final List<String> lines = new ArrayList<>();

        private String lineFault;
        private String lengthFault;
        private int read;
        private long reservedBytes;

        LinesReader(JsonReader json, MemoryBudget.Hold memory) {
            this.json = json;
            this.memory = memory;
        }

        /** Reads the value of the member {@code lines}, whose name was read last. */
        void read() {
            if (json.next() != JsonToken.START_ARRAY) {
                json.skip();
                return;
            }
            while (json.next() != JsonToken.END_ARRAY) {
                readLine();
                read++;
            }
        }

        private void readLine() {
            if (!json.isAt(JsonToken.VALUE_STRING)) {
                noteLine();
                json.skip();
                return;
            }
            int offset = json.offset();
            int end = json.endOfString(offset, Integer.MAX_VALUE);
            if (end - offset > JsonReader.mostBytes(MOST_CHARACTERS)) {
                noteLength(characters(offset, end));
                return;
            }
            String line = json.text();
            int length = line.codePointCount(0, line.length());
            if (line.indexOf('\n') >= 0) {
                noteLine();
            } else if (length > MOST_CHARACTERS) {
                noteLength(length);
            } else if (lineFault == null && lengthFault == null) {
                keep(line);
            }
        }

        private void keep(String line) {
            reservedBytes -= BYTES_OF_A_LINE + (long) Character.BYTES * line.length();
            if (reservedBytes < 0) {
                memory.grow(PIECE_BYTES - reservedBytes);
                reservedBytes = PIECE_BYTES;
            }
            lines.add(line);
        }

        /** Counts the code points of a string that is too long to be unescaped; a line feed in it is noted. */
        private int characters(int offset, int end) {
            byte[] body = json.body;
            int count = 0;
            for (int at = offset + 1; at < end - 1; at++) {
                int unit = BodyText.unit(body, at);
                if (unit == '\n' || body[at] == '\\' && body[at + 1] == 'n') {
                    noteLine();
                }
                boolean continues = (body[at] & 0xc0) == 0x80 || unit >= 0 && Character.isLowSurrogate((char) unit);
                count += continues ? 0 : 1;
                at += unit >= 0 ? 5 : body[at] == '\\' ? 1 : 0;
            }
            return count;
        }

        private void noteLine() {
            if (lineFault == null) {
                lineFault = "lines[" + read + "]: must be a string without a line feed";
            }
            lines.clear();
        }

        private void noteLength(int characters) {
            if (lengthFault == null) {
                lengthFault = "lines[" + read + "]: the number of characters is " + characters + ", the limit is "
                        + MOST_CHARACTERS;
            }
            lines.clear();
        }

        /**
         * @throws InvalidRequest 003 where there are none; 005 where one is no string, or has a line feed; 004 where
         *     one is too long
         */
        List<String> lines(RequestId id) {
            InvalidRequest.refuse("003", read == 0 ? "lines: must be an array of at least one line" : null, id);
            InvalidRequest.refuse("005", lineFault, id);
            InvalidRequest.refuse("004", lengthFault, id);
            return lines;
        }
    }
}
