-- One evaluation of many conversations by one version of a monitor. It goes through them in the order of time and keeps
-- its place, so that whoever takes it up goes on where the last one stopped.
CREATE TABLE evaluation_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  -- Which conversations: the filter, and what the monitor took when the run was asked for.
  population jsonb NOT NULL,
  status text NOT NULL,
  -- Why it failed, in words for its reader.
  failure text,
  total integer NOT NULL,
  scored integer NOT NULL DEFAULT 0,
  unscored integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  -- The last conversation that is counted.
  after_started_at timestamptz(3),
  after_id uuid,
  -- How often in a row the model endpoint was waited for.
  waits integer NOT NULL DEFAULT 0,
  -- How often it was taken up again. A job names the one it was made for, and after the next leaves the run alone.
  resumes integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- Also of one that is taken up again after it had ended: when it began for the first time.
  started_at timestamptz(3),
  finished_at timestamptz(3),
  CONSTRAINT evaluation_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT evaluation_runs_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version)
    REFERENCES monitor_versions (organization_id, monitor_id, number) ON DELETE CASCADE,
  CONSTRAINT evaluation_runs_kind_check CHECK (kind IN ('backfill', 'experiment')),
  CONSTRAINT evaluation_runs_status_check CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  CONSTRAINT evaluation_runs_finished_check CHECK ((finished_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled')))
);

CREATE INDEX evaluation_runs_monitor_idx ON evaluation_runs (organization_id, monitor_id, id);

-- Two at once would ask, and pay, twice.
CREATE UNIQUE INDEX evaluation_runs_unfinished_key ON evaluation_runs (organization_id, monitor_id)
  WHERE kind = 'backfill' AND status IN ('queued', 'running');

-- What judges cost in each calendar month (UTC), added in the transaction that stores the result which was paid for.
CREATE TABLE judge_spending (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  judgements bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  -- In US dollars.
  cost double precision NOT NULL,
  CONSTRAINT judge_spending_pkey PRIMARY KEY (organization_id, month),
  CONSTRAINT judge_spending_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
