INSERT INTO messages.message (queue_id, receiver, sender, body)
VALUES (:queue_id, :receiver, :sender, :body) RETURNING id
