WITH sent AS MATERIALIZED (
  SELECT pgmq.send(:pgmq_queue, jsonb_build_object('sender', CAST(:sender AS bigint), 'body', CAST(:body AS text))) AS id
), kept AS (
  INSERT INTO messages.receipt (client, key, fingerprint, answer)
  SELECT :sender, :key, :fingerprint, jsonb_build_object('id', id) FROM sent
)
SELECT id FROM sent
