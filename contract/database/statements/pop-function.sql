SELECT id, sender, body, sent_at FROM messages.pop(:queue_id, :receiver, :client, :key, :fingerprint)
