WITH sent AS (
  INSERT INTO messages.message (queue_id, receiver, sender, body)
  VALUES (:queue_id, :receiver, :sender, :body) RETURNING id
), kept AS (
  INSERT INTO messages.receipt (client, key, fingerprint, answer)
  SELECT :sender, :key, :fingerprint, jsonb_build_object('id', id) FROM sent
)
SELECT id FROM sent
