"""The workload messages: queues on PostgreSQL."""
