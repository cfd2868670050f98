-- Failed evaluations are counted every half minute, and are few.
CREATE INDEX monitor_results_failed_idx ON monitor_results (organization_id, evaluated_at) WHERE status = 2;

-- For the erasure of conversations.
CREATE INDEX alert_incidents_conversations_idx ON alert_incidents USING gin (conversation_ids);
