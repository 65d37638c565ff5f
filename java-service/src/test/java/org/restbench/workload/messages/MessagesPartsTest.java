package org.restbench.workload.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.RequestId;
import org.restbench.workload.messages.MessagesAnswer.Message;

/** What needs no database. */
class MessagesPartsTest {
    private static final RequestId ID = new RequestId("1", true);

    /** sha256sum's; the Python service has to find the same. */
    @Test
    void the_fingerprint_of_a_request_is_that_of_every_service() {
        MessagesRequest.Send send = new MessagesRequest.Send("a", ID, 3, 0, "x", "k");
        assertThat(HexFormat.of().formatHex(Receipts.fingerprint(send.identity())))
                .isEqualTo("946d557943f69f3a71cbbd8bb87ee95279241f60657d5d991968560d7bfbc94c");
        MessagesRequest.Broadcast broadcast = new MessagesRequest.Broadcast(ID, 3, List.of("b", "a"), "é", "k");
        assertThat(HexFormat.of().formatHex(Receipts.fingerprint(broadcast.identity())))
                .isEqualTo("43b496d395d272cc826b45b53f484ffa41bb7fa72aac6d655675f0ecbe590e0e");
        MessagesRequest.Pop pop = new MessagesRequest.Pop("a", ID, 3, 5, "k");
        assertThat(HexFormat.of().formatHex(Receipts.fingerprint(pop.identity())))
                .isEqualTo("2407d9bacc22eac3176a9aa4c41b08527d8f27eb483b3f362a21a8496c377dbf");
    }

    @Test
    void a_queue_in_memory_gives_each_receiver_its_messages_in_order() {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        MemoryQueues queues = new MemoryQueues(budget);
        queues.send(List.of(7L), 1, 0, "a");
        queues.send(List.of(7L), 2, 5, "b");
        long third = queues.send(List.of(7L, 8L), 3, 0, "c").get(0);
        assertThat(queues.count(7)).isEqualTo(3);
        assertThat(queues.peek(7, 0, 1)).extracting(Message::body).containsExactly("a");
        assertThat(queues.peek(7, 0, 9)).extracting(Message::body).containsExactly("a", "c");
        assertThat(queues.pop(7, 5).receiver()).isEqualTo(5);
        assertThat(queues.pop(7, 5)).isNull();
        assertThat(queues.pop(7, 0).receiver()).isNull();
        assertThat(queues.delete(7, third)).isTrue();
        assertThat(queues.delete(7, third)).isFalse();
        assertThat(queues.pop(7, 0)).isNull();
        queues.deleteQueue(8);
        assertThat(queues.send(List.of(8L), 3, 0, "sent while it was deleted")).hasSize(1);
        assertThat(queues.pop(8, 0)).isNull();
        assertThat(budget.heldBytes()).isZero();
        assertThat(queues)
                .as("nothing of a receiver is left")
                .extracting("queues")
                .hasToString("{7={}}");
    }

    @Test
    void messages_in_memory_are_refused_where_requests_would_have_no_room() {
        MemoryBudget budget = new MemoryBudget(4000); // of which a quarter is theirs
        MemoryQueues queues = new MemoryQueues(budget);
        long first = queues.send(List.of(7L), 1, 0, "x".repeat(50)).get(0);
        assertThatThrownBy(() -> queues.send(List.of(7L, 8L), 1, 0, "y".repeat(150)))
                .isInstanceOf(MemoryRefused.class);
        assertThat(queues.peek(7, 0, 9)).extracting(Message::id).containsExactly(first);
        assertThat(queues.count(8)).isZero();
        assertThat(queues.send(List.of(8L), 1, 0, "y".repeat(150))).hasSize(1);
    }

    @Test
    void the_queues_that_are_remembered_are_bounded() {
        QueueCache cache = new QueueCache();
        Queue queue = new Queue(1, QueueTechnique.PGMQ);
        cache.put("first", queue, 0);
        for (int i = 0; i < 9_999; i++) {
            cache.put("q" + i, queue, 0);
        }
        assertThat(cache.get("first")).isEqualTo(queue);
        cache.put("one-more", queue, 0);
        assertThat(cache.get("first")).isEqualTo(queue);
        assertThat(cache.get("q0")).isNull();
    }

    /** Else a queue in memory would be there for ever, as the database is not asked whether it still is. */
    @Test
    void a_queue_that_was_deleted_while_it_was_looked_up_is_not_remembered() {
        QueueCache cache = new QueueCache();
        Queue queue = new Queue(7, QueueTechnique.MEMORY);
        long before = cache.asOf();
        cache.deleted("a");
        cache.put("a", queue, before);
        assertThat(cache.get("a")).isNull();
        cache.put("a", queue, cache.asOf());
        assertThat(cache.get("a")).isEqualTo(queue);
        cache.forget("a");
        assertThat(cache.get("a")).isNull();
    }
}
