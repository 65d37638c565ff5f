SELECT id FROM messages.send(:queue_id, :receiver, :sender, :body, :key, :fingerprint)
