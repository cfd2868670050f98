-- A delivery of a review holds what somebody wrote about a conversation, and is erased with it. Read from the body, so that
-- processes from before this fill it too.
ALTER TABLE webhook_deliveries ADD COLUMN conversation_id uuid GENERATED ALWAYS AS (
  CASE event_type WHEN 'review.completed' THEN (body::json #>> '{data,conversationId}')::uuid END) STORED;

CREATE INDEX webhook_deliveries_conversation_idx ON webhook_deliveries (organization_id, conversation_id)
  WHERE conversation_id IS NOT NULL;

-- Those that were left by what was erased before.
DELETE FROM webhook_deliveries d
WHERE d.conversation_id IS NOT NULL AND NOT EXISTS (
  SELECT FROM conversations c WHERE c.organization_id = d.organization_id AND c.id = d.conversation_id);
