-- Who pops with a key locks it before any message. Else a request that repeats it would pass over the message that the first
-- one holds, whose receipt nobody sees yet, and find nothing. The number is negative, those of queues are not.
CREATE FUNCTION messages.lock_key(of_client bigint, request_key text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(of_client || ' ' || request_key, 0) | CAST('-9223372036854775808' AS bigint));
$$;

REVOKE ALL ON FUNCTION messages.lock_key(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION messages.lock_key(bigint, text) TO restbench_service;

CREATE OR REPLACE FUNCTION messages.pop(
  from_queue bigint, of_receiver bigint, by_client bigint, request_key text, request_fingerprint bytea)
RETURNS TABLE (id bigint, sender bigint, body text, sent_at bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  taken record;
BEGIN
  IF request_key IS NOT NULL THEN
    PERFORM messages.lock_key(by_client, request_key);
  END IF;
  DELETE FROM messages.message m WHERE m.queue_id = from_queue AND m.receiver = of_receiver AND m.id = (
      SELECT o.id FROM messages.message o WHERE o.queue_id = from_queue AND o.receiver = of_receiver
      ORDER BY o.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING m.id, m.sender, m.body, CAST(extract(epoch FROM m.sent_at) * 1000000 AS bigint) AS sent_at INTO taken;
  IF taken.id IS NULL THEN
    RETURN;
  END IF;
  IF request_key IS NOT NULL THEN
    INSERT INTO messages.receipt (client, key, fingerprint, answer)
      VALUES (by_client, request_key, request_fingerprint, to_jsonb(taken));
  END IF;
  RETURN QUERY SELECT taken.id, taken.sender, taken.body, taken.sent_at;
END $$;
