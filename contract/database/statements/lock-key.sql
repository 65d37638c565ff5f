SELECT messages.lock_key(:client, :key)
