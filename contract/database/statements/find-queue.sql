SELECT id, technique FROM messages.queue WHERE name = :queue
