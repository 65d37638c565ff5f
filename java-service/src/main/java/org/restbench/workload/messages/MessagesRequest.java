package org.restbench.workload.messages;

import java.util.List;
import org.restbench.workload.RequestId;

/** A request, with a record for each operation. A receiver of 0 is nobody in particular. */
public sealed interface MessagesRequest {
    /** The request's id; null where the operation has none. */
    default RequestId id() {
        return null;
    }

    /** A request that may be repeated with its key: all attempts have one effect and one answer. */
    sealed interface Repeatable extends MessagesRequest {
        /** The key; null where the request has none. */
        String key();

        /** The client that sent the request and has chosen the key. */
        long client();

        /** What two attempts of the same request have in common, see {@link Receipts}. */
        List<Object> identity();
    }

    /** POST /queues. */
    record Create(RequestId id, String queue, QueueTechnique technique) implements MessagesRequest {}

    /** GET /queues. */
    record ListQueues(String after, long limit) implements MessagesRequest {}

    /** GET /queues/{queue}. */
    record CountMessages(String queue) implements MessagesRequest {}

    /** DELETE /queues/{queue}. */
    record DeleteQueue(String queue) implements MessagesRequest {}

    /** POST /queues/{queue}/messages. */
    record Send(String queue, RequestId id, long client, long receiver, String body, String key) implements Repeatable {
        @Override
        public List<Object> identity() {
            return List.of("send", queue, receiver, body);
        }
    }

    /** POST /broadcast. */
    record Broadcast(RequestId id, long client, List<String> queues, String body, String key) implements Repeatable {
        @Override
        public List<Object> identity() {
            return List.of("broadcast", String.join(",", queues), 0, body);
        }
    }

    /** GET /queues/{queue}/messages. */
    record Peek(String queue, long receiver, long limit) implements MessagesRequest {}

    /** POST /queues/{queue}/pop. */
    record Pop(String queue, RequestId id, long client, long receiver, String key) implements Repeatable {
        @Override
        public List<Object> identity() {
            return List.of("pop", queue, receiver, "");
        }
    }

    /** DELETE /queues/{queue}/messages/{id}. */
    record DeleteMessage(String queue, long message) implements MessagesRequest {}
}
