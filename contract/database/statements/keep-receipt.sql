INSERT INTO messages.receipt (client, key, fingerprint, answer) VALUES (:client, :key, :fingerprint, CAST(:answer AS jsonb))
