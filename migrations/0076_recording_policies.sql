ALTER TABLE agents
  -- Which recordings of the agent are kept, and for how many days.
  ADD COLUMN recordings_keep text NOT NULL DEFAULT 'all',
  ADD COLUMN recordings_days integer,
  -- How they are redacted. Null: like those of the organization.
  ADD COLUMN sound_redaction text,
  ADD CONSTRAINT agents_recordings_keep_check CHECK (recordings_keep IN ('all', 'days', 'transcript_only', 'nothing')),
  ADD CONSTRAINT agents_recordings_days_check CHECK ((recordings_keep = 'days') = (recordings_days IS NOT NULL)),
  ADD CONSTRAINT agents_sound_redaction_check CHECK (sound_redaction IN ('none', 'mute', 'beep'));

ALTER TABLE recordings
  -- When its files are deleted because of the agent's policy. The measures stay.
  ADD COLUMN expires_at timestamptz(3),
  DROP CONSTRAINT recordings_status_check,
  ADD CONSTRAINT recordings_status_check CHECK (status IN ('pending', 'processing', 'stored', 'failed', 'deleted'));
CREATE INDEX recordings_expiring_idx ON recordings (organization_id, expires_at, conversation_id)
  WHERE expires_at IS NOT NULL;

ALTER TABLE conversations
  DROP CONSTRAINT conversations_recording_status_check,
  ADD CONSTRAINT conversations_recording_status_check
    CHECK (recording_status IN ('pending', 'processing', 'stored', 'failed', 'deleted'));
