package org.restbench.connection;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The looks at all connections: none ends those that follow, and each counts the time that has really passed. */
class LooksTest {
    @Test
    void a_look_that_fails_throws_nothing_at_its_scheduler() {
        DeadlineProtocol withoutDeadlines = new DeadlineProtocol();
        assertDoesNotThrow(withoutDeadlines::look);
    }

    @Test
    void a_late_look_counts_all_the_time_since_the_one_before() {
        DeadlineProtocol protocol = new DeadlineProtocol();
        long firstNanos = System.nanoTime();
        protocol.elapsedMillis(firstNanos);
        assertEquals(7000, protocol.elapsedMillis(firstNanos + TimeUnit.SECONDS.toNanos(7)));
        assertEquals(1000, protocol.elapsedMillis(firstNanos + TimeUnit.SECONDS.toNanos(8)));
    }

    @Test
    void room_is_kept_for_a_new_connection_however_few_there_may_be() {
        assertEquals(4, IdleConnections.mostKept(5));
        assertEquals(1900, IdleConnections.mostKept(2000));
        for (int most = 1; most < 100; most++) {
            assertTrue(IdleConnections.mostKept(most) < most, "of " + most);
        }
    }
}
