-- What each role may do, and how the planner is held. V2 is pgmq, whose SQL its package has. Roles exist before.
DO $$ BEGIN
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO restbench_service, restbench_monitor', current_database());
END $$;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA messages, pgmq FROM PUBLIC;

-- Queues are made and dropped by functions alone. FOR UPDATE asks for the right to UPDATE a column; none is ever updated.
GRANT USAGE ON SCHEMA messages TO restbench_service, restbench_monitor;
GRANT SELECT ON messages.queue TO restbench_service;
GRANT SELECT, INSERT, DELETE, UPDATE (sent_at) ON messages.message TO restbench_service;
GRANT SELECT, INSERT, DELETE, UPDATE ON messages.receipt TO restbench_service;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA messages TO restbench_service;

-- Of pgmq the tables of queues, which are made later, and what is called; not its own table of queues.
GRANT USAGE ON SCHEMA pgmq TO restbench_service;
ALTER DEFAULT PRIVILEGES IN SCHEMA pgmq GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO restbench_service;
GRANT EXECUTE ON FUNCTION pgmq.send(text, jsonb), pgmq.send(text, jsonb, jsonb, timestamptz), pgmq.pop(text, integer),
  pgmq.delete(text, bigint), pgmq.format_table_name(text, text) TO restbench_service;

-- A pop that is planned while its table is empty would sort whatever is there later, and a plan is kept. With these it reads
-- a range of the primary key, however many rows there are. The purge of receipts alone allows bitmaps, for itself.
ALTER ROLE restbench_service SET enable_sort = off;
ALTER ROLE restbench_service SET enable_bitmapscan = off;
ALTER ROLE restbench_service SET enable_seqscan = off;
ALTER ROLE restbench_service SET statement_timeout = '5s';
ALTER ROLE restbench_service SET idle_in_transaction_session_timeout = '5s';

-- What the monitor reads. An owner who is no superuser may have no right to give it; it reads less then.
GRANT USAGE ON SCHEMA public TO restbench_monitor;
DO $$ BEGIN
  GRANT pg_monitor TO restbench_monitor;
  CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public;
  CREATE EXTENSION IF NOT EXISTS pgstattuple SCHEMA public;
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
  RAISE WARNING 'the monitor reads less: %', SQLERRM;
END $$;
