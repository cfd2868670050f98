-- Spans that were to become a conversation in which nothing could be read: of which conversation, and why.
ALTER TABLE otel_spans
  ADD COLUMN unread_key text,
  ADD COLUMN unread_reason text;
CREATE INDEX otel_spans_unread_idx ON otel_spans (organization_id, unread_key, received_at) WHERE unread_key IS NOT NULL;
