package org.restbench.codec;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.RequestId;
import org.restbench.workload.messages.MessagesAnswer;
import org.restbench.workload.messages.MessagesRequest;
import org.restbench.workload.messages.MessagesWorkload;
import org.restbench.workload.messages.QueueTechnique;
import tools.jackson.core.JsonToken;

/** The JSON of one operation on queues. */
public record MessagesJson(boolean hasBody, int mostCharacters, Function<MessagesReader, MessagesRequest> reading)
        implements Codec<MessagesRequest, MessagesAnswer> {
    private static final Map<String, String> REPLAYED = Map.of("Idempotent-Replayed", "true");

    /** All operations; those of the same path in the order GET, POST, DELETE. */
    public static List<CodedWorkload<MessagesRequest, MessagesAnswer>> operations(
            MessagesWorkload workload, int mostCharacters) {
        Table table = new Table(workload, mostCharacters);
        return List.of(
                table.row("GET", "/queues", it -> new MessagesRequest.ListQueues(it.after(), it.limit(100, 1000))),
                table.row("POST", "/queues", it -> new MessagesRequest.Create(it.id(), it.queue(), it.technique())),
                table.row("GET", "/queues/{queue}", it -> new MessagesRequest.CountMessages(it.queueOfPath())),
                table.row("DELETE", "/queues/{queue}", it -> new MessagesRequest.DeleteQueue(it.queueOfPath())),
                table.row(
                        "GET",
                        "/queues/{queue}/messages",
                        it -> new MessagesRequest.Peek(it.queueOfPath(), it.receiverOfQuery(), it.limit(1, 100))),
                table.row(
                        "POST",
                        "/queues/{queue}/messages",
                        it -> new MessagesRequest.Send(
                                it.queueOfPath(), it.id(), it.number("sender"), it.receiver(), it.body(), it.key())),
                table.row(
                        "DELETE",
                        "/queues/{queue}/messages/{id}",
                        it -> new MessagesRequest.DeleteMessage(it.queueOfPath(), it.idOfPath())),
                table.row(
                        "POST",
                        "/queues/{queue}/pop",
                        it -> new MessagesRequest.Pop(
                                it.queueOfPath(), it.id(), it.number("client"), it.receiver(), it.key())),
                table.row(
                        "POST",
                        "/broadcast",
                        it -> new MessagesRequest.Broadcast(
                                it.id(), it.number("sender"), it.queues(), it.body(), it.key())));
    }

    private record Table(MessagesWorkload workload, int mostCharacters) {
        CodedWorkload<MessagesRequest, MessagesAnswer> row(
                String method, String template, Function<MessagesReader, MessagesRequest> reading) {
            MessagesJson codec = new MessagesJson(method.equals("POST"), mostCharacters, reading);
            return new CodedWorkload<>(workload, codec, method, template);
        }
    }

    /** @throws InvalidRequest 002, 003 or 007: the first that applies */
    @Override
    public MessagesRequest decode(byte[] body, Query query, MemoryBudget.Hold memory) {
        MessagesReader reader = new MessagesReader(hasBody ? body : null, query, memory);
        reader.requirePathAndDelay();
        MessagesRequest request = reading.apply(reader);
        reader.requireShort(mostCharacters);
        return request;
    }

    /** The contract's members in its order, without white space. */
    @Override
    public byte[] encode(MessagesAnswer answer) {
        return Json.WRITER.writeValueAsBytes(answer.members());
    }

    @Override
    public Notes notes(MessagesAnswer answer) {
        Map<String, Long> parts = new LinkedHashMap<>();
        parts.put("connection", answer.connectionNanos());
        parts.put("database", answer.databaseNanos());
        return new Notes(answer.replayed() ? REPLAYED : Map.of(), parts);
    }

    @Override
    public RequestId identify(byte[] body) {
        return hasBody ? RequestIds.identify(body) : null;
    }

    /**
     * Reads the parts of a request for an operation on queues. Each part is checked against the contract's rule when
     * its method is called, so that the order of the calls is the order of the rules. These methods throw
     * {@link InvalidRequest} 003 where a part breaks its rule.
     */
    static final class MessagesReader {
        private static final Pattern QUEUE = Pattern.compile("[a-z][a-z0-9_-]{0,62}");
        private static final Pattern KEY = Pattern.compile("[!-~]{1,64}");
        private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,18}");
        private static final String QUEUE_RULE =
                ": must be of a to z, 0 to 9, _ and -, begin with a letter and have at most 63 characters";
        private static final int MOST_QUEUES = 100;

        /** Most characters of any text but a message. */
        private static final int MOST_CHARACTERS = 64;

        /** Stands for a value that is not valid for any member. */
        private static final Object WRONG = new Object();

        /** Bytes of memory per byte of a message, while it is read and as a string. */
        private static final long BYTES_PER_BYTE = 4;

        private final Query query;
        private final MemoryBudget.Hold memory;
        private final Map<String, Object> members = new HashMap<>();
        private String message;
        private RequestId id;

        /** @param body null where the operation has none */
        MessagesReader(byte[] body, Query query, MemoryBudget.Hold memory) {
            this.query = query;
            this.memory = memory;
            if (body != null) {
                Json.read(body, memory, this::readMembers);
            }
        }

        private MessagesReader readMembers(JsonReader json) {
            members.clear();
            id = null;
            for (String name = json.nextName(); name != null; name = json.nextName()) {
                switch (name) {
                    case "requestId" -> id = RequestIds.read(json);
                    case "queue", "technique", "sender", "client", "receiver", "queues", "key", "body" -> {
                        json.next();
                        members.put(name, name.equals("queues") ? array(json) : value(json, name.equals("body")));
                    }
                    default -> json.skipNext();
                }
            }
            return this;
        }

        private Object value(JsonReader json, boolean isMessage) {
            if (json.isLong()) {
                return json.longValue();
            }
            if (json.isAt(JsonToken.VALUE_NULL)) {
                return null;
            }
            if (isMessage && json.isAt(JsonToken.VALUE_STRING)) {
                int offset = json.offset();
                memory.grow(BYTES_PER_BYTE * (json.endOfString(offset, Integer.MAX_VALUE) - offset));
                return json.text();
            }
            String text = json.shortText(MOST_CHARACTERS);
            return text == null ? WRONG : text;
        }

        /** The elements of an array, up to one more than the limit, which is enough to see that there are too many. */
        private Object array(JsonReader json) {
            if (!json.isAt(JsonToken.START_ARRAY)) {
                json.skip();
                return WRONG;
            }
            List<Object> elements = new ArrayList<>();
            while (json.next() != JsonToken.END_ARRAY) {
                if (elements.size() <= MOST_QUEUES) {
                    elements.add(value(json, false));
                } else {
                    json.skip();
                }
            }
            return elements;
        }

        private InvalidRequest wrong(String rule) {
            return new InvalidRequest("003", rule, id);
        }

        private String queue(String name, Object value) {
            if (value instanceof String text && QUEUE.matcher(text).matches()) {
                return text;
            }
            throw wrong(name + QUEUE_RULE);
        }

        private InvalidRequest notAnInteger(String name, long most) {
            return wrong(name + ": must be an integer from 1 to " + most);
        }

        private long number(String name, String digits, long most) {
            if (!NUMBER.matcher(digits).matches() || new BigInteger(digits).compareTo(BigInteger.valueOf(most)) > 0) {
                throw notAnInteger(name, most);
            }
            return Long.parseLong(digits);
        }

        /** The queue in the path, its first open segment. */
        String queueOfPath() {
            return queue("queue", query.path().get(0));
        }

        /** The message in the path, its second open segment. */
        long idOfPath() {
            return number("id", query.path().get(1), Long.MAX_VALUE);
        }

        /** Checks the path and the delay. To be called first. */
        void requirePathAndDelay() {
            if (!query.path().isEmpty()) {
                queueOfPath();
            }
            if (query.path().size() > 1) {
                idOfPath();
            }
            if (query.delayFault() != null) {
                throw wrong(query.delayFault());
            }
        }

        /** The query's parameter {@code after}, empty where it is not given. */
        String after() {
            List<String> values = query.values("after");
            return values.isEmpty() ? "" : queue("after", values.size() == 1 ? values.get(0) : null);
        }

        /** The query's parameter {@code receiver}, 0 where it is not given. */
        long receiverOfQuery() {
            return numberOfQuery("receiver", 0, Long.MAX_VALUE);
        }

        long limit(long unset, long most) {
            return numberOfQuery("limit", unset, most);
        }

        private long numberOfQuery(String name, long unset, long most) {
            List<String> values = query.values(name);
            return values.isEmpty() ? unset : number(name, values.size() == 1 ? values.get(0) : "", most);
        }

        RequestId id() {
            if (id == null) {
                throw wrong(RequestIds.RULE);
            }
            return id;
        }

        String queue() {
            return queue("queue", members.get("queue"));
        }

        QueueTechnique technique() {
            Object asked = members.getOrDefault("technique", "skip-locked");
            return QueueTechnique.named(asked instanceof String text ? text : "")
                    .orElseThrow(() -> wrong("technique: must be one of " + QueueTechnique.names()));
        }

        /** A member that is a client's number. */
        long number(String name) {
            if (members.get(name) instanceof Long number && number >= 1) {
                return number;
            }
            throw notAnInteger(name, Long.MAX_VALUE);
        }

        /** The member {@code receiver}, 0 where it is not given. */
        long receiver() {
            return members.get("receiver") == null ? 0 : number("receiver");
        }

        List<String> queues() {
            if (members.get("queues") instanceof List<?> asked
                    && !asked.isEmpty()
                    && asked.size() <= MOST_QUEUES
                    && new HashSet<>(asked).size() == asked.size()
                    && asked.stream()
                            .allMatch(each -> each instanceof String text
                                    && QUEUE.matcher(text).matches())) {
                return asked.stream().map(String.class::cast).toList();
            }
            throw wrong("queues: must be an array of 1 to " + MOST_QUEUES + " distinct queue names");
        }

        String body() {
            if (members.get("body") instanceof String text && !text.isEmpty() && text.indexOf('\0') < 0) {
                message = text;
                return text;
            }
            throw wrong("body: must be a string of at least one character without U+0000");
        }

        /** The member {@code key}, null where it is not given. */
        String key() {
            if (!members.containsKey("key")) {
                return null;
            }
            if (members.get("key") instanceof String text && KEY.matcher(text).matches()) {
                return text;
            }
            throw wrong("key: must be 1 to 64 characters of U+0021 to U+007E");
        }

        /** To be called last: throws {@link InvalidRequest} 007 where {@link #body} has more code points. */
        void requireShort(int most) {
            if (message != null) {
                int count = message.codePointCount(0, message.length());
                if (count > most) {
                    throw new InvalidRequest(
                            "007", "body: the number of characters is " + count + ", the limit is " + most, id);
                }
            }
        }
    }
}
