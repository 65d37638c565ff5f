SELECT msg_id AS id, CAST(message->>'sender' AS bigint) AS sender, message->>'body' AS body,
  CAST(extract(epoch FROM enqueued_at) * 1000000 AS bigint) AS sent_at
FROM pgmq.pop(:pgmq_queue)
