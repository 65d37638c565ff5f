SELECT pgmq.send(:pgmq_queue, jsonb_build_object('sender', CAST(:sender AS bigint), 'body', CAST(:body AS text))) AS id
