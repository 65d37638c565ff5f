SELECT fingerprint, answer FROM messages.receipt WHERE client = :client AND key = :key
