SELECT pgmq.delete(CAST(:pgmq_queue AS text), CAST(:id AS bigint)) AS deleted
