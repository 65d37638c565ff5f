DELETE FROM messages.receipt WHERE at < clock_timestamp() - make_interval(secs => :seconds)
