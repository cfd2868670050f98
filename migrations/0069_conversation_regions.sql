-- Spans of recordings that reviewers marked.
CREATE TABLE conversation_regions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- Null if the note is about both channels.
  channel smallint,
  start_ms integer NOT NULL,
  end_ms integer NOT NULL,
  note text NOT NULL,
  author_user_id uuid NOT NULL,
  -- The finding that the region shows. It counts only while the conversation is attached to it.
  finding_id uuid,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT conversation_regions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT conversation_regions_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT conversation_regions_author_fkey FOREIGN KEY (author_user_id) REFERENCES users (id),
  CONSTRAINT conversation_regions_channel_check CHECK (channel IN (0, 1)),
  CONSTRAINT conversation_regions_span_check CHECK (0 <= start_ms AND start_ms < end_ms)
);
CREATE INDEX conversation_regions_conversation_idx ON conversation_regions (organization_id, conversation_id, id);
CREATE INDEX conversation_regions_finding_idx ON conversation_regions (organization_id, finding_id, id)
  WHERE finding_id IS NOT NULL;
