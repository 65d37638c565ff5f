SELECT pg_advisory_xact_lock(:queue_id)
