package org.restbench.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

class DatabaseFailureTest {
    private static SQLException said(String severity, String state) {
        return new PSQLException(new ServerErrorMessage("S" + severity + "\0C" + state + "\0Mtext\0"));
    }

    @Test
    void an_error_undoes_its_statement_in_whatever_language_it_is_said() {
        for (String severity : new String[] {"ERROR", "FEHLER", "ERREUR"}) {
            DatabaseFailure failure = DatabaseFailure.of(said(severity, "23505"), true, true);
            assertThat(failure.isUnknown()).as(severity).isFalse();
            assertThat(failure.isOneOf(Set.of("23505"))).isTrue();
        }
    }

    @Test
    void what_ends_the_connection_leaves_it_unknown_where_it_decides() {
        for (String severity : new String[] {"FATAL", "PANIK"}) {
            assertThat(DatabaseFailure.of(said(severity, "57P01"), true, false).isUnknown())
                    .isTrue();
            assertThat(DatabaseFailure.of(said(severity, "57P01"), false, false).isUnknown())
                    .isFalse();
        }
        assertThat(DatabaseFailure.of(new SQLException("", "08006"), true, true).isUnknown())
                .isTrue();
    }
}
