DELETE FROM messages.receipt WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM messages.receipt WHERE at < statement_timestamp() - make_interval(secs => :seconds) LIMIT :most))
