-- Queues and their messages. Run once by the owner, in one transaction. Services have no right to DDL: queues are made and
-- dropped by the functions here, which run with the owner's rights.
CREATE SCHEMA messages;

-- Names are ordered by their code points, whatever the order of the database.
CREATE TABLE messages.queue (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  technique text NOT NULL,
  name text COLLATE "C" NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$')
);

-- Receiver 0 is nobody in particular. The primary key is the only index: a pop reads one range of it, and never a message
-- of another queue. Vacuum comes early, since a queue is made of dead rows.
CREATE TABLE messages.message (
  queue_id bigint NOT NULL REFERENCES messages.queue ON DELETE CASCADE,
  receiver bigint NOT NULL DEFAULT 0 CHECK (receiver >= 0),
  id bigint GENERATED ALWAYS AS IDENTITY,
  sender bigint NOT NULL CHECK (sender > 0),
  body text NOT NULL,
  sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (queue_id, receiver, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- What was answered to a request with a key.
CREATE TABLE messages.receipt (
  client bigint,
  key text,
  fingerprint bytea NOT NULL,
  answer jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (client, key)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX receipt_at ON messages.receipt USING brin (at);

-- A queue of pgmq is named q and the number of the queue here. Who finds a queue that is gone a moment later asks again.
CREATE FUNCTION messages.create_queue(asked_name text, asked_technique text)
RETURNS TABLE (id bigint, technique text, created boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  made bigint;
BEGIN
  LOOP
    INSERT INTO messages.queue (name, technique) VALUES (asked_name, asked_technique)
      ON CONFLICT (name) DO NOTHING RETURNING queue.id INTO made;
    IF made IS NOT NULL AND asked_technique = 'pgmq' THEN
      PERFORM pgmq.create('q' || made);
    END IF;
    RETURN QUERY SELECT queue.id, queue.technique, made IS NOT NULL FROM messages.queue WHERE queue.name = asked_name;
    EXIT WHEN FOUND;
  END LOOP;
END $$;

CREATE FUNCTION messages.delete_queue(asked_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  gone record;
BEGIN
  DELETE FROM messages.queue WHERE queue.name = asked_name RETURNING queue.id, queue.technique INTO gone;
  IF gone.technique = 'pgmq' THEN
    PERFORM pgmq.drop_queue('q' || gone.id);
  END IF;
  RETURN gone.id IS NOT NULL;
END $$;

-- The technique `function`: the study's way. A key that was used before raises 23505, which undoes the whole statement.
CREATE FUNCTION messages.send(
  to_queue bigint, to_receiver bigint, from_sender bigint, text_body text, request_key text, request_fingerprint bytea)
RETURNS TABLE (id bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  sent bigint;
BEGIN
  INSERT INTO messages.message (queue_id, receiver, sender, body)
    VALUES (to_queue, to_receiver, from_sender, text_body) RETURNING message.id INTO sent;
  IF request_key IS NOT NULL THEN
    INSERT INTO messages.receipt (client, key, fingerprint, answer)
      VALUES (from_sender, request_key, request_fingerprint, jsonb_build_object('id', sent));
  END IF;
  RETURN QUERY SELECT sent;
END $$;

CREATE FUNCTION messages.pop(
  from_queue bigint, of_receiver bigint, by_client bigint, request_key text, request_fingerprint bytea)
RETURNS TABLE (id bigint, sender bigint, body text, sent_at bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  taken record;
BEGIN
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

-- What is in a queue of pgmq, whose table services know by number only.
CREATE FUNCTION messages.count_pgmq(of_queue bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  found_messages bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM pgmq.%I', 'q_q' || of_queue) INTO found_messages;
  RETURN found_messages;
END $$;

CREATE FUNCTION messages.peek_pgmq(of_queue bigint, at_most bigint)
RETURNS TABLE (id bigint, sender bigint, body text, sent_at bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT msg_id, CAST(message->>''sender'' AS bigint), message->>''body'', CAST(extract(epoch FROM enqueued_at) * 1000000 AS bigint) '
    'FROM pgmq.%I ORDER BY msg_id LIMIT $1', 'q_q' || of_queue) USING at_most;
END $$;
