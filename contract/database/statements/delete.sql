DELETE FROM messages.message WHERE queue_id = :queue_id AND id = :id
