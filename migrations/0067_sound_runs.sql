-- Whether recordings of the organization are measured.
ALTER TABLE organizations ADD COLUMN measure_sound boolean NOT NULL DEFAULT true;

-- Runs that measure stored recordings.
CREATE TABLE sound_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL DEFAULT 'queued',
  -- The conversations: all that match the filter when the run reaches them.
  filter jsonb NOT NULL,
  -- Whether recordings that were measured already are measured again.
  again boolean NOT NULL,
  total integer NOT NULL,
  measured integer NOT NULL DEFAULT 0,
  unmeasurable integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  -- The last conversation that was measured. The next one has a higher ID.
  after_id uuid,
  -- A time of the database's clock. Recordings that are stored later are measured as they arrive.
  stored_before timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  failure text,
  created_by_user_id uuid NOT NULL,
  CONSTRAINT sound_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT sound_runs_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT sound_runs_status_check CHECK (status IN ('queued', 'running', 'completed', 'cancelled', 'failed'))
);

CREATE INDEX sound_runs_unfinished_idx ON sound_runs (organization_id) WHERE status IN ('queued', 'running');

-- Findings about an agent, such as reported response times that differ from its recordings.
ALTER TABLE findings
  DROP CONSTRAINT findings_source_check,
  ADD CONSTRAINT findings_source_check CHECK (source_kind IN ('manual', 'monitor', 'experiment', 'agent'));

-- One open finding for each agent.
CREATE UNIQUE INDEX findings_agent_key ON findings (organization_id, source_id)
  WHERE source_kind = 'agent' AND status IN ('open', 'acknowledged');
