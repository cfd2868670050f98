-- What was measured of a stored recording.
CREATE TABLE recording_sounds (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- The file that was measured. Another file of the recording is measured again.
  blob_key text NOT NULL,
  -- Sample rate, duration, and for each channel its speech, levels, clipping, and dropouts. Null if it could not be measured.
  measured jsonb,
  -- Why it could not be measured, for people.
  reason text,
  measured_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT recording_sounds_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT recording_sounds_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT recording_sounds_outcome_check CHECK ((measured IS NULL) <> (reason IS NULL))
);
