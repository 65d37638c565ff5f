WITH taken AS (
  DELETE FROM messages.message WHERE queue_id = :queue_id AND receiver = :receiver AND id = (
    SELECT id FROM messages.message WHERE queue_id = :queue_id AND receiver = :receiver
      AND EXISTS (SELECT FROM messages.lock_key(:client, :key)) ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, sender, body, CAST(extract(epoch FROM sent_at) * 1000000 AS bigint) AS sent_at
), kept AS (
  INSERT INTO messages.receipt (client, key, fingerprint, answer)
  SELECT :client, :key, :fingerprint, to_jsonb(taken) FROM taken
)
SELECT id, sender, body, sent_at FROM taken
