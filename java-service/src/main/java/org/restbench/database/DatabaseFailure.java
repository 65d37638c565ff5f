package org.restbench.database;

import java.sql.SQLException;
import java.util.Set;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** A statement was not executed, or that is unknown. Keeps the SQLSTATE only, as a message may quote a row. */
public final class DatabaseFailure extends RuntimeException {
    private final String state;
    private final boolean unknown;

    DatabaseFailure(String state, boolean unknown) {
        super(state, null, false, false);
        this.state = String.valueOf(state);
        this.unknown = unknown;
    }

    /**
     * Classifies a failure: an error undoes its statement; after anything else (FATAL, the end of the connection, a
     * timeout) the statement may have been executed. The driver has the severity only in the server's language, so an
     * open connection is a sign of an error as well.
     *
     * @param decides whether what was sent takes effect by itself: a statement outside of a transaction, or COMMIT
     */
    static DatabaseFailure of(SQLException failed, boolean decides, boolean isOpen) {
        ServerErrorMessage said = failed instanceof PSQLException known ? known.getServerErrorMessage() : null;
        boolean isError = said != null && (isOpen || "ERROR".equals(said.getSeverity()));
        return new DatabaseFailure(failed.getSQLState(), decides && !isError);
    }

    /** Whether the statement may have been executed all the same; else it was not. */
    public boolean isUnknown() {
        return unknown;
    }

    public String state() {
        return state;
    }

    /** Whether this is an error with one of these SQLSTATEs, and the statement was not executed. */
    public boolean isOneOf(Set<String> states) {
        return !unknown && states.contains(state);
    }
}
