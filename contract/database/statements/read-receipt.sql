SELECT fingerprint, answer, CAST(answer->>'id' AS bigint) AS id, CAST(answer->>'sender' AS bigint) AS sender, answer->>'body' AS body,
  CAST(answer->>'sent_at' AS bigint) AS sent_at,
  ARRAY(SELECT CAST(each AS bigint) FROM jsonb_array_elements_text(answer->'ids') AS each) AS ids
FROM messages.receipt WHERE client = :client AND key = :key
