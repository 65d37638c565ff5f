SELECT count(*) AS messages FROM messages.message WHERE queue_id = :queue_id
