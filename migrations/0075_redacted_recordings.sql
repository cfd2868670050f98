ALTER TABLE organizations
  -- Whether spans of redacted words are muted, replaced by a tone, or kept in recordings. Null: muted if the organization redacts text.
  ADD COLUMN sound_redaction text,
  -- Whether the originals of redacted recordings are sealed instead of deleted.
  ADD COLUMN seals_originals boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT organizations_sound_redaction_check CHECK (sound_redaction IN ('none', 'mute', 'beep'));

ALTER TABLE recordings
  -- The file as it arrived, if it may not be served: until its recording is redacted, and afterwards if it is sealed.
  ADD COLUMN original_key text,
  -- The spans that were redacted, as pairs of milliseconds. Null if the file that is served is the one that arrived.
  ADD COLUMN redacted_spans jsonb,
  DROP CONSTRAINT recordings_status_check,
  ADD CONSTRAINT recordings_status_check CHECK (status IN ('pending', 'processing', 'stored', 'failed'));

CREATE UNIQUE INDEX recordings_original_key_idx ON recordings (organization_id, original_key)
  WHERE original_key IS NOT NULL;
-- Recordings that wait for their redaction are measured too. Redacted ones keep the measures of their originals.
DROP INDEX recordings_unmeasured_idx;
CREATE INDEX recordings_unmeasured_idx ON recordings (organization_id, conversation_id)
  WHERE redacted_spans IS NULL AND measured_key IS DISTINCT FROM coalesce(blob_key, original_key);
-- Recordings that are still to be redacted.
CREATE INDEX recordings_processing_idx ON recordings (organization_id, conversation_id) WHERE status = 'processing';

ALTER TABLE conversations
  DROP CONSTRAINT conversations_recording_status_check,
  ADD CONSTRAINT conversations_recording_status_check
    CHECK (recording_status IN ('pending', 'processing', 'stored', 'failed'));

-- Why someone did what the event says, where a reason is required.
ALTER TABLE audit_events ADD COLUMN reason text;
