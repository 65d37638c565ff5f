DELETE FROM messages.message WHERE queue_id = :queue_id AND receiver = :receiver AND id = (
  SELECT id FROM messages.message WHERE queue_id = :queue_id AND receiver = :receiver ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, sender, body, CAST(extract(epoch FROM sent_at) * 1000000 AS bigint) AS sent_at
