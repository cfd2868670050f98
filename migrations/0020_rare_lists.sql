-- A page of what is rare is found without reading all that it is rare among: here what a monitor found.
CREATE INDEX monitor_results_affected_idx
  ON monitor_results (organization_id, monitor_id, call_started_at, conversation_id, monitor_version) WHERE result = 1;

-- And here what has no index of its own: passing over a conversation reads no row of the table.
DROP INDEX conversations_time_idx;
CREATE INDEX conversations_time_idx ON conversations (organization_id, started_at, id)
  INCLUDE (channel, direction, duration_seconds);
-- That a row need not be read is known once it was vacuumed.
ALTER TABLE conversations SET (autovacuum_vacuum_insert_scale_factor = 0.02);
