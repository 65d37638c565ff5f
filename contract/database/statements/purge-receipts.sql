DELETE FROM messages.receipt WHERE at < statement_timestamp() - make_interval(secs => :seconds)
