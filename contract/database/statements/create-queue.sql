SELECT id, technique, created FROM messages.create_queue(:queue, :technique)
