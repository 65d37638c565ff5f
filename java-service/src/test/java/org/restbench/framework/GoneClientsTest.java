package org.restbench.framework;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.restbench.framework.GoneClients.TcpStates;

class GoneClientsTest {
    private static final int ESTABLISHED = 1;
    private static final long MOMENT_NANOS = 100_000_000;

    private final AtomicLong nanos = new AtomicLong(-MOMENT_NANOS); // as System.nanoTime, of any sign
    private final AtomicInteger lookups = new AtomicInteger();
    private OptionalInt state = OptionalInt.of(ESTABLISHED);

    private final BooleanSupplier waits =
            new GoneClients(this::lookUp, nanos::get).waits("127.0.0.2", 50001, "127.0.0.1", 8080);

    private OptionalInt lookUp(InetSocketAddress service, InetSocketAddress client) {
        lookups.incrementAndGet();
        assertThat(service).isEqualTo(new InetSocketAddress("127.0.0.1", 8080));
        assertThat(client).isEqualTo(new InetSocketAddress("127.0.0.2", 50001));
        return state;
    }

    private boolean later() {
        nanos.addAndGet(MOMENT_NANOS);
        return waits.getAsBoolean();
    }

    @Test
    void a_client_that_has_closed_is_gone_but_not_within_a_moment() {
        state = OptionalInt.of(TcpStates.CLOSE_WAIT);
        nanos.addAndGet(MOMENT_NANOS - 1);
        assertThat(waits.getAsBoolean()).isTrue();
        assertThat(lookups).hasValue(0);
        assertThat(later()).isFalse();
    }

    @Test
    void one_that_is_connected_waits_until_a_later_lookup_finds_it_gone() {
        assertThat(later()).isTrue();
        state = OptionalInt.of(TcpStates.CLOSE_WAIT);
        assertThat(waits.getAsBoolean()).isFalse();
    }

    @Test
    void one_of_which_the_kernel_says_nothing_waits() {
        state = OptionalInt.empty();
        assertThat(later()).isTrue();
    }
}
