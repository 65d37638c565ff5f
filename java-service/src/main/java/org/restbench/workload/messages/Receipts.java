package org.restbench.workload.messages;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.restbench.database.DatabaseFailure;
import org.restbench.database.Session;
import org.restbench.database.Session.Setting;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.messages.MessagesAnswer.EmptyPop;
import org.restbench.workload.messages.MessagesRequest.Repeatable;

/** The stored answers to requests with a key, so that a repeated request has one effect and one answer. */
record Receipts(Session session) {
    /** SQLSTATEs of a request that may be done already: its key was used, or the disk is full meanwhile. */
    private static final Set<String> MAY_BE_DONE = Set.of("23505", "53100");

    /** Receipts that one statement deletes, in far less than 5 s, the limit of the database's role. */
    private static final int BATCH = 10_000;

    private record Receipt(byte[] fingerprint, Object answer) {}

    /** SHA-256 of operation, queues, receiver and body, a line each, in every service: a retry may go to another. */
    static byte[] fingerprint(List<Object> identity) {
        String lines = identity.stream().map(Object::toString).collect(Collectors.joining("\n"));
        try {
            return MessageDigest.getInstance("SHA-256").digest(lines.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException never) {
            throw new IllegalStateException(never);
        }
    }

    /** The parameters of statements with a key; key and fingerprint are null where there is none. */
    static Map<String, Object> parameters(Repeatable request) {
        Map<String, Object> parameters = new HashMap<>();
        parameters.put("client", request.client());
        parameters.put("key", request.key());
        parameters.put("fingerprint", request.key() == null ? null : fingerprint(request.identity()));
        return parameters;
    }

    /**
     * Executes a request, or finds that it was executed before. The attempt waits for a request in flight with the same
     * key, because each technique locks the key, or the messages that it takes.
     *
     * @param attempt executes the request and stores its receipt in one transaction; returns the answer's members
     * @param answer reads the members from a receipt, which has the columns of a first request's row
     * @throws InvalidRequest where the attempt was refused, with its code; 013 where the key belongs to another request
     */
    MessagesAnswer once(Repeatable request, Supplier<Object> attempt, Session.Row<Object> answer) {
        if (request.key() == null) {
            return new MessagesAnswer(attempt.get());
        }
        Object members = null;
        RuntimeException instead = null;
        try {
            members = attempt.get();
            if (!(members instanceof EmptyPop)) {
                return new MessagesAnswer(members);
            }
        } catch (DatabaseFailure failed) {
            if (!failed.isOneOf(MAY_BE_DONE)) {
                throw failed;
            }
            instead = failed; // thrown below where there is no receipt: it was purged meanwhile
        } catch (InvalidRequest refused) {
            instead = refused;
        }
        List<Receipt> found = session.write(
                "read-receipt", parameters(request), row -> new Receipt(row.getBytes("fingerprint"), answer.read(row)));
        if (found.isEmpty() && instead != null) {
            throw instead;
        }
        if (found.isEmpty()) {
            return new MessagesAnswer(members);
        }
        if (!Arrays.equals(found.get(0).fingerprint, fingerprint(request.identity()))) {
            throw new InvalidRequest("013", "key: was used before for another request", request.id());
        }
        return new MessagesAnswer(found.get(0).answer, true, 0, 0);
    }

    /** Stores a receipt; called within the transaction of its request. */
    int keep(Repeatable request, Map<String, ?> answer) {
        Map<String, Object> parameters = parameters(request);
        parameters.put("answer", answer);
        return session.change("keep-receipt", parameters);
    }

    /** Deletes receipts of at least this age, by an index that needs bitmap scans. */
    void purge(long seconds) {
        Map<String, Object> parameters = Map.of("seconds", seconds, "most", BATCH);
        int forgotten;
        do {
            forgotten = session.transaction(Setting.BITMAP_SCANS, () -> session.change("purge-receipts", parameters));
        } while (forgotten == BATCH);
    }

    static List<Long> numbers(ResultSet row, String column) throws SQLException {
        return List.of((Long[]) row.getArray(column).getArray());
    }
}
