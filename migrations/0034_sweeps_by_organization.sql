-- Sweeps go by organization: indexes by time alone give way to those that begin with the organization.
CREATE INDEX mails_old_idx ON mails (organization_id, created_at);
DROP INDEX mails_created_idx;

CREATE INDEX webhook_deliveries_old_idx ON webhook_deliveries (organization_id, created_at);
DROP INDEX webhook_deliveries_created_idx;

CREATE INDEX integration_deliveries_old_idx ON integration_deliveries (organization_id, received_at);
DROP INDEX integration_deliveries_received_idx;
CREATE INDEX integration_deliveries_old_payload_idx ON integration_deliveries (organization_id, received_at)
  WHERE payload IS NOT NULL;
DROP INDEX integration_deliveries_payload_idx;

CREATE INDEX integration_sync_gaps_old_idx ON integration_sync_gaps (organization_id, found_at);
DROP INDEX integration_sync_gaps_found_idx;
CREATE INDEX integration_sync_runs_old_idx ON integration_sync_runs (organization_id, ended_at)
  WHERE ended_at IS NOT NULL;
DROP INDEX integration_sync_runs_ended_idx;

CREATE INDEX otel_spans_old_idx ON otel_spans (organization_id, received_at);
DROP INDEX otel_spans_received_idx;
