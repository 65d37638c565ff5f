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
import org.restbench.workload.messages.MessagesAnswer.Nothing;
import org.restbench.workload.messages.MessagesRequest.Repeatable;

/** What was answered to requests with a key, so that one that is repeated has one effect and one answer. */
record Receipts(Session session) {
    /** The key was used before; or there is no room, and what was done before needs none. */
    private static final Set<String> MAY_BE_DONE = Set.of("23505", "53100");

    /** Receipts that one statement forgets: it takes far less than the 5 s that its role has for one. */
    private static final int BATCH = 10_000;

    private record Receipt(byte[] fingerprint, Object answer) {}

    /**
     * SHA-256 of operation, queues, receiver and body, a line each: the same in every service, as a retry may go to
     * another.
     */
    static byte[] fingerprint(List<Object> identity) {
        String lines = identity.stream().map(Object::toString).collect(Collectors.joining("\n"));
        try {
            return MessageDigest.getInstance("SHA-256").digest(lines.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException never) {
            throw new IllegalStateException(never);
        }
    }

    /** What the statements for requests with a key ask for, nulls where the request has none. */
    static Map<String, Object> parameters(Repeatable request) {
        Map<String, Object> parameters = new HashMap<>();
        parameters.put("client", request.client());
        parameters.put("key", request.key());
        parameters.put("fingerprint", request.key() == null ? null : fingerprint(request.identity()));
        return parameters;
    }

    /**
     * Does what is asked for, or finds that it is done. A request in flight with the same key was waited for by then,
     * as each technique locks its key, or what it takes.
     *
     * @param attempt keeps a receipt in one transaction with what it does; gives the answer's members
     * @param answer gives them from a receipt, which has the columns of a first request's row
     * @throws InvalidRequest what the attempt was refused with; 013 where the key belongs to another request
     */
    MessagesAnswer once(Repeatable request, Supplier<Object> attempt, Session.Row<Object> answer) {
        if (request.key() == null) {
            return new MessagesAnswer(attempt.get());
        }
        Object members = null;
        RuntimeException instead = null;
        try {
            members = attempt.get();
            if (!(members instanceof Nothing)) {
                return new MessagesAnswer(members);
            }
        } catch (DatabaseFailure failed) {
            if (!failed.isOneOf(MAY_BE_DONE)) {
                throw failed;
            }
            instead = failed; // purged meanwhile
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
        return new MessagesAnswer(found.get(0).answer).asReplay();
    }

    /** In a transaction. */
    int keep(Repeatable request, Map<String, ?> answer) {
        Map<String, Object> parameters = parameters(request);
        parameters.put("answer", answer);
        return session.change("keep-receipt", parameters);
    }

    /** Forgets receipts of this age, by an index that needs bitmaps. */
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
