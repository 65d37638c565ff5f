package org.restbench.workload.npb;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.restbench.workload.LinearCongruential;

class LinearCongruentialTest {
    private final LinearCongruential random = new LinearCongruential(LinearCongruential.SEED);

    @Test
    void draws_the_numbers_of_npb() {
        long[] first = {
            55909509111989L, 61155031930969L, 45573031421645L, 55279057169489L, 1250169187877L, 27551538756233L
        };
        for (long expected : first) {
            assertThat(random.nextBits()).isEqualTo(expected);
        }
    }

    @Test
    void a_value_is_the_state_scaled_to_one() {
        assertThat(random.next()).isEqualTo(0.7945219111887383);
        assertThat(random.next()).isEqualTo(0.8690652738745399);
        assertThat(random.next()).isEqualTo(0.6476317284643329);
    }

    @Test
    void a_jump_lands_where_drawing_leads() {
        assertThat(LinearCongruential.after(999, LinearCongruential.SEED).nextBits())
                .isEqualTo(39923673819009L);
        for (int draws = 0; draws < 70; draws++) {
            assertThat(LinearCongruential.after(draws, LinearCongruential.SEED).nextBits())
                    .isEqualTo(random.nextBits());
        }
    }
}
