SELECT messages.count_pgmq(:queue_id) AS messages
