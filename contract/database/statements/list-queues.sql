SELECT name, technique FROM messages.queue WHERE name > :after ORDER BY name LIMIT :limit
