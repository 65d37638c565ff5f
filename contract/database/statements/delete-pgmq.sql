SELECT pgmq.delete(:pgmq_queue, :id) AS deleted
