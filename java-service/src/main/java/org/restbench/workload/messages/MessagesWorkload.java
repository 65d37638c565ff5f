package org.restbench.workload.messages;

import java.util.concurrent.atomic.LongAdder;
import org.restbench.database.Database;
import org.restbench.database.DatabaseFailure;
import org.restbench.database.FreeSpace;
import org.restbench.database.Session;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Queues of messages in a database. A request mostly waits for the database. */
public final class MessagesWorkload implements Workload<MessagesRequest, MessagesAnswer> {
    static final String NOT_DONE = "the database cannot do it now; it is not done";

    private static final Logger LOG = LoggerFactory.getLogger(MessagesWorkload.class);

    private static final int PURGE_SECONDS = 60;

    /** Bytes of an answer per character of a message; an escape sequence takes six. */
    private static final long BYTES_PER_CHARACTER = 8;

    private final Database database;
    private final FreeSpace space;
    private final int mostCharacters;
    private final int receiptSeconds;
    private final QueueCache queues = new QueueCache();
    private final MemoryQueues memory;
    private final LongAdder retries = new LongAdder();

    /**
     * @param space disk space for the messages of all techniques but {@code memory}
     * @param budget memory of all requests; the messages of technique {@code memory} are a part of it
     */
    public MessagesWorkload(
            Database database, FreeSpace space, MemoryBudget budget, int mostCharacters, int receiptSeconds) {
        this.database = database;
        this.space = space;
        this.memory = new MemoryQueues(budget);
        this.mostCharacters = mostCharacters;
        this.receiptSeconds = receiptSeconds;
    }

    @Override
    public String name() {
        return "messages";
    }

    @Override
    public long operations(MessagesRequest input) {
        return 1;
    }

    /** The bytes of the answer. What the database's driver reads is bounded by the number of connections. */
    @Override
    public long workingBytes(MessagesRequest input) {
        long messages = input instanceof MessagesRequest.Peek peek
                ? peek.limit()
                : input instanceof MessagesRequest.Pop ? 1 : 0;
        return messages * BYTES_PER_CHARACTER * mostCharacters;
    }

    @Override
    public boolean hasLoops() {
        return false;
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public MessagesAnswer compute(MessagesRequest input, ParallelLoop loop) {
        Session session = new Session(database);
        try (session) {
            MessagesAnswer answer = new Operations(session, space, queues, memory, retries).answer(input);
            return answer.took(session.connectionNanos(), session.databaseNanos());
        } catch (DatabaseFailure failed) {
            database.report(failed);
            throw failed.isUnknown()
                    ? new InvalidRequest(
                            "015",
                            "the connection broke; whether it is done is unknown, ask again with the same key",
                            input.id())
                    : new InvalidRequest("014", NOT_DONE, input.id());
        }
    }

    public boolean isUp() {
        return database.isUp();
    }

    /** The number of transactions that were restarted since the start of the service. */
    public LongAdder retries() {
        return retries;
    }

    @Override
    public void open() {
        database.open();
        database.every(Math.min(PURGE_SECONDS, receiptSeconds), this::purge);
    }

    /** Deletes receipts that are too old. The workload also does this periodically. */
    public void purge() {
        try (Session session = new Session(database)) {
            new Receipts(session).purge(receiptSeconds);
        } catch (DatabaseFailure failed) {
            LOG.warn("receipts are not purged: {}", failed.state());
        }
    }

    @Override
    public void close() {
        database.close();
    }
}
