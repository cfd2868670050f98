-- How far a run has sent its conversations to the provider as batches. Null for a run that sends ordinary requests.
ALTER TABLE evaluation_runs ADD COLUMN batch_phase text
  CONSTRAINT evaluation_runs_batch_phase_check CHECK (batch_phase IN ('sending', 'waiting', 'ended'));
-- The last conversation that was considered for a batch.
ALTER TABLE evaluation_runs ADD COLUMN sent_started_at timestamptz(3);
ALTER TABLE evaluation_runs ADD COLUMN sent_id uuid;

-- What batches in progress will cost, in US dollars. It is reserved before they are sent.
ALTER TABLE judge_spending ADD COLUMN reserved_cost double precision NOT NULL DEFAULT 0;

-- Requests that a run sends to a provider together. The row is written before anything is sent, and its ID is sent along,
-- so that a batch whose submission was interrupted can be found at the provider.
CREATE TABLE evaluation_batches (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  -- How often the run had been resumed when the batch was created.
  resumes integer NOT NULL,
  -- The provider and its model.
  model text NOT NULL,
  -- new: nothing was sent, except perhaps a file. submitting: the provider may have it. submitted: the provider has it.
  status text NOT NULL,
  -- Why the batch as a whole was not answered.
  failure text,
  conversation_ids uuid[] NOT NULL,
  requests integer NOT NULL,
  -- When the conversations were read.
  read_at timestamptz(3) NOT NULL,
  -- The part of the reservation that was not released yet, and the month in which it was made.
  reserved_cost double precision NOT NULL,
  reserved_month date NOT NULL,
  -- The uploaded file, if the provider reads requests from a file.
  file_id text,
  submitting_at timestamptz(3),
  -- The provider's ID of the batch.
  remote_id text,
  -- Whether the ID is known to belong to this batch. Otherwise, its results show that.
  is_certain boolean NOT NULL DEFAULT false,
  -- Batches of the provider that looked like this one, but were not.
  other_ids text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz(3),
  -- The provider's counts.
  answered integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  cancelled_at timestamptz(3),
  -- How many results were read and stored.
  read_results integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  CONSTRAINT evaluation_batches_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT evaluation_batches_run_fkey FOREIGN KEY (organization_id, run_id)
    REFERENCES evaluation_runs (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT evaluation_batches_status_check CHECK (status IN ('new', 'submitting', 'submitted', 'ended'))
);

CREATE INDEX evaluation_batches_run_idx ON evaluation_batches (organization_id, run_id);
