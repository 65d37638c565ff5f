WITH taken AS MATERIALIZED (
  SELECT msg_id AS id, CAST(message->>'sender' AS bigint) AS sender, message->>'body' AS body,
    CAST(extract(epoch FROM enqueued_at) * 1000000 AS bigint) AS sent_at
  FROM pgmq.pop(:pgmq_queue) WHERE EXISTS (SELECT FROM messages.lock_key(:client, :key))
), kept AS (
  INSERT INTO messages.receipt (client, key, fingerprint, answer)
  SELECT :client, :key, :fingerprint, to_jsonb(taken) FROM taken
)
SELECT id, sender, body, sent_at FROM taken
