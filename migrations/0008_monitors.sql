CREATE TABLE monitors (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  kind text NOT NULL,
  enabled boolean NOT NULL,
  -- A filter of fewer fields; `{}` takes every conversation.
  scope jsonb NOT NULL,
  sample_percent numeric(5, 2) NOT NULL,
  current_version integer NOT NULL,
  -- From then on nobody sees it; a job deletes its results, and the row at last.
  deleted_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT monitors_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT monitors_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT monitors_kind_check CHECK (kind IN ('rule', 'judge', 'external')),
  CONSTRAINT monitors_sample_percent_check CHECK (sample_percent BETWEEN 0 AND 100)
);

-- The name of a deleted one is free again.
CREATE UNIQUE INDEX monitors_name_key ON monitors (organization_id, name) WHERE deleted_at IS NULL;

-- Immutable: a changed definition is the next version.
CREATE TABLE monitor_versions (
  organization_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  number integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT monitor_versions_pkey PRIMARY KEY (organization_id, monitor_id, number),
  CONSTRAINT monitor_versions_monitor_fkey FOREIGN KEY (organization_id, monitor_id)
    REFERENCES monitors (organization_id, id) ON DELETE CASCADE
);

-- One row for each conversation and version of a monitor. It grows by millions a day and is read in long stretches of
-- time by monitor, so the primary key is the only index and covers such a read. Foreign keys would nearly double the
-- cost of a write: the statement that writes takes the rows that it refers to itself and holds them.
CREATE TABLE monitor_results (
  organization_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- A copy of the conversation's started_at, which never changes.
  call_started_at timestamptz(3) NOT NULL,
  evaluated_at timestamptz(3) NOT NULL,
  score double precision,
  monitor_version integer NOT NULL,
  -- 1 affected, 0 not affected, null when there is no score.
  result smallint,
  -- 0 scored, 1 unscored, 2 failed.
  status smallint NOT NULL,
  reasoning text,
  evidence jsonb NOT NULL,
  evaluator text NOT NULL,
  input_tokens integer,
  output_tokens integer,
  -- In US dollars.
  cost double precision,
  CONSTRAINT monitor_results_pkey
    PRIMARY KEY (organization_id, monitor_id, call_started_at, conversation_id, monitor_version)
    INCLUDE (result, status, score, evaluated_at),
  CONSTRAINT monitor_results_status_check CHECK (status BETWEEN 0 AND 2),
  CONSTRAINT monitor_results_result_check CHECK (result BETWEEN 0 AND 1 AND status = 0 OR result IS NULL AND status > 0),
  CONSTRAINT monitor_results_reasoning_check CHECK (length(reasoning) <= 65536),
  CONSTRAINT monitor_results_tokens_check CHECK ((input_tokens IS NULL) = (output_tokens IS NULL))
);

-- A read of the index alone needs to know which pages are visible to all.
ALTER TABLE monitor_results SET (autovacuum_vacuum_insert_scale_factor = 0.02);
