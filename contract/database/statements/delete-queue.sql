SELECT messages.delete_queue(:queue) AS deleted
