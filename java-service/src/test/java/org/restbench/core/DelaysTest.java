package org.restbench.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waits that requests ask for: never too short, never too many, and over when the service stops. */
class DelaysTest {
    private static final int LONG_MILLIS = 60_000;
    private final Delays delays = new Delays(LONG_MILLIS, 5);

    @AfterEach
    void close() {
        delays.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 50})
    void a_wait_is_never_shorter_than_asked(int millis) {
        for (int round = 0; round < 20; round++) {
            long begunNanos = System.nanoTime();
            delays.begin(millis).join();
            assertThat(System.nanoTime() - begunNanos).isGreaterThanOrEqualTo(millis * 1_000_000L);
        }
        assertThat(delays.waiting()).isZero();
    }

    @Test
    void none_is_over_at_once_and_takes_no_place() {
        List<CompletableFuture<Void>> none = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            none.add(delays.begin(0));
        }
        assertThat(none).allMatch(CompletableFuture::isDone);
        assertThat(delays.waiting()).isZero();
    }

    @Test
    void half_of_the_requests_in_flight_may_wait_and_the_next_is_refused_until_a_place_is_free() {
        delays.begin(LONG_MILLIS);
        CompletableFuture<Void> shortest = delays.begin(1);
        shortest.join();
        CompletableFuture<Void> second = delays.begin(LONG_MILLIS);
        assertThatThrownBy(() -> delays.begin(1)).isInstanceOfSatisfying(RequestRefused.class, refused -> {
            assertThat(refused.refusal.status()).isEqualTo(503);
            assertThat(refused.refusal.headers()).containsEntry("Retry-After", "1");
        });
        assertThat(delays.waiting()).isEqualTo(2);
        assertThat(second).isNotDone();
    }

    @Test
    void where_one_request_may_be_in_flight_it_may_wait() {
        try (Delays one = new Delays(LONG_MILLIS, 1)) {
            one.begin(1).join();
        }
    }

    @Test
    void when_the_service_stops_waits_end_and_later_ones_do_not_begin() {
        CompletableFuture<Void> before = delays.begin(LONG_MILLIS);
        delays.end();
        before.join();
        delays.begin(LONG_MILLIS).join();
        assertThat(delays.waiting()).isZero();
    }
}
