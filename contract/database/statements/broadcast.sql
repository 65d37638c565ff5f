WITH sent AS (
  INSERT INTO messages.message (queue_id, sender, body)
  SELECT queue_id, :sender, :body FROM unnest(CAST(:ascending_ids AS bigint[])) AS queue_id RETURNING queue_id, id
)
SELECT array_agg(id ORDER BY position) AS ids
FROM unnest(CAST(:asked_ids AS bigint[])) WITH ORDINALITY AS asked (queue_id, position) JOIN sent USING (queue_id)
