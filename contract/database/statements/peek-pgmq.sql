SELECT id, sender, body, sent_at FROM messages.peek_pgmq(:queue_id, :limit)
