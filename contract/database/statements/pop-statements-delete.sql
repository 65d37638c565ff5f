DELETE FROM messages.message WHERE queue_id = :queue_id AND receiver = :receiver AND id = :id
