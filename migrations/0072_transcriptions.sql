-- The model that transcribes recordings without a transcript, as `providerId/model`. Null means that they are not transcribed.
ALTER TABLE organizations ADD COLUMN transcription_model text;
-- The channel that the agent is on. Null if that is not known.
ALTER TABLE organizations ADD COLUMN agent_channel smallint
  CONSTRAINT organizations_agent_channel_check CHECK (agent_channel IN (0, 1));
-- Whether recordings may be sent to models in PHI mode.
ALTER TABLE organizations ADD COLUMN sound_to_models boolean NOT NULL DEFAULT false;

-- The agent's own settings. Null means those of the organization. The model can be `none`.
ALTER TABLE agents ADD COLUMN transcription_model text;
ALTER TABLE agents ADD COLUMN agent_channel smallint
  CONSTRAINT agents_agent_channel_check CHECK (agent_channel IN (0, 1));

-- The provider and model that made the transcript from the recording. Null if it was sent.
ALTER TABLE transcripts ADD COLUMN transcribed_by text;

-- The audio that was transcribed.
ALTER TABLE judge_spending ADD COLUMN audio_seconds double precision NOT NULL DEFAULT 0;

-- Whether the run also transcribes recordings without a transcript.
ALTER TABLE sound_runs ADD COLUMN transcribe boolean NOT NULL DEFAULT false;

-- Recordings that are or were transcribed.
CREATE TABLE transcriptions (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  -- The provider and its model, `providerId/model`.
  model text NOT NULL,
  -- The recording.
  blob_key text NOT NULL,
  -- The run that requested it.
  run_id uuid,
  -- Why it failed, for people.
  failure text,
  -- What was sent so far, and what it cost in US dollars. The cost is null if the price is unknown.
  audio_seconds double precision NOT NULL DEFAULT 0,
  cost double precision,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  CONSTRAINT transcriptions_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT transcriptions_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT transcriptions_status_check CHECK (status IN ('pending', 'completed', 'failed'))
);
CREATE INDEX transcriptions_failed_idx ON transcriptions (organization_id, ended_at) WHERE status = 'failed';
CREATE INDEX transcriptions_run_idx ON transcriptions (organization_id, run_id) WHERE run_id IS NOT NULL;

-- The answers to requests of unfinished transcriptions, so that no request is sent and paid twice.
CREATE TABLE transcription_parts (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- A hash of the recording, the model, and the part of the recording.
  key text NOT NULL,
  content jsonb NOT NULL,
  CONSTRAINT transcription_parts_pkey PRIMARY KEY (organization_id, conversation_id, key),
  CONSTRAINT transcription_parts_transcription_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES transcriptions (organization_id, conversation_id) ON DELETE CASCADE
);
