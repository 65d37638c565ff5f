package org.restbench.database;

/** What a transaction is told before its first statement. All other SQL is in the contract's files. */
public enum Setting {
    REPEATABLE_READ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
    /** The role of services has them switched off, as pops are not to use them. */
    BITMAP_SCANS("SET LOCAL enable_bitmapscan = on");

    private final String sql;

    Setting(String sql) {
        this.sql = sql;
    }

    String sql() {
        return sql;
    }
}
