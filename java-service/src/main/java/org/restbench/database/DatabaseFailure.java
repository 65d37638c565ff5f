package org.restbench.database;

import java.sql.SQLException;
import java.util.Set;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * The database has not done what it was asked for, or it is not known whether it has. Carries nothing of what the
 * server said but its SQLSTATE: a server's message may quote a row.
 */
public final class DatabaseFailure extends RuntimeException {
    private final String state;
    private final boolean unknown;

    /** @param unknown whether it may be done all the same */
    DatabaseFailure(String state, boolean unknown) {
        super(state, null, false, false);
        this.state = String.valueOf(state);
        this.unknown = unknown;
    }

    /**
     * By the rule that an error, which the server has survived, undoes its statement. After anything else (FATAL, the
     * end of the connection, a timeout) what was sent may be done.
     *
     * <p>The driver knows the word for an error in the server's language only. But an error leaves the connection open.
     *
     * @param decides whether what was sent is done without anything else: a statement by itself, or COMMIT
     * @param isOpen whether the connection goes on
     */
    static DatabaseFailure of(SQLException failed, boolean decides, boolean isOpen) {
        ServerErrorMessage said = failed instanceof PSQLException known ? known.getServerErrorMessage() : null;
        boolean isError = said != null && (isOpen || "ERROR".equals(said.getSeverity()));
        return new DatabaseFailure(failed.getSQLState(), decides && !isError);
    }

    /** Whether it may be done all the same; else it is not. */
    public boolean isUnknown() {
        return unknown;
    }

    public String state() {
        return state;
    }

    /** Whether it is an error with one of these SQLSTATEs. */
    public boolean isOneOf(Set<String> states) {
        return !unknown && states.contains(state);
    }
}
