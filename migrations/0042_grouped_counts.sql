-- Counts by agent, version, or company read this index alone, and join results in its order.
DROP INDEX conversations_time_idx;
CREATE INDEX conversations_time_idx ON conversations (organization_id, started_at, id)
  INCLUDE (channel, direction, duration_seconds, agent_id, agent_version_id, company_id);
