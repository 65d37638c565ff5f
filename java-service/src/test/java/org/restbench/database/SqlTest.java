package org.restbench.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.restbench.database.Session.Sql;

class SqlTest {
    @Test
    void names_become_the_drivers_marks_in_order_and_casts_stay() {
        Sql sql = Sql.parse("SELECT :b_c, x::text, :a FROM t WHERE a = :a AND x->>'k' = 'v'");
        assertThat(sql.text()).isEqualTo("SELECT ?, x::text, ? FROM t WHERE a = ? AND x->>'k' = 'v'");
        assertThat(sql.names()).containsExactly("b_c", "a", "a");
    }

    @Test
    void a_statement_is_a_file_of_the_contract_and_nothing_else_is() {
        assertThat(Sql.named("send").names()).containsExactly("queue_id", "receiver", "sender", "body");
        assertThatThrownBy(() -> Sql.named("no-such")).hasMessage("no statement no-such");
    }

    @Test
    void a_parameter_without_a_value_is_a_fault_though_null_is_a_value() {
        assertThatThrownBy(() -> Sql.parse("SELECT :a").bind(null, Map.of("b", 1)))
                .hasMessage("no value for a");
    }
}
