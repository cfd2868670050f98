-- That the calls of an integration are also listed at the provider, so that what its webhooks did not bring is fetched.
CREATE TABLE integration_syncs (
  organization_id uuid NOT NULL,
  integration_id uuid NOT NULL,
  enabled boolean NOT NULL,
  -- Sealed.
  api_key text NOT NULL,
  -- Null for the provider's own.
  api_base_url text,
  interval_minutes integer NOT NULL,
  lookback_days integer NOT NULL,
  -- Every call that began before this has been listed.
  listed_until timestamptz(3) NOT NULL,
  next_run_at timestamptz(3) NOT NULL,
  -- Runs that failed since the last one that did not.
  failures integer NOT NULL DEFAULT 0,
  -- Why nothing runs until the settings change.
  paused_reason text,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT integration_syncs_pkey PRIMARY KEY (organization_id, integration_id),
  CONSTRAINT integration_syncs_integration_fkey FOREIGN KEY (organization_id, integration_id)
    REFERENCES integrations (organization_id, id) ON DELETE CASCADE
);

-- For the schedule, which goes over all organizations.
CREATE INDEX integration_syncs_due_idx ON integration_syncs (next_run_at) WHERE enabled AND paused_reason IS NULL;

CREATE TABLE integration_sync_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  status text NOT NULL,
  -- Why it failed, in words for its reader.
  reason text,
  -- All that began before this is to be listed.
  until timestamptz(3) NOT NULL,
  -- What is listed now: calls that began in this window, from the page that this cursor of the provider names.
  window_from timestamptz(3) NOT NULL,
  window_until timestamptz(3) NOT NULL,
  page_cursor text,
  window_listed boolean NOT NULL DEFAULT false,
  pages integer NOT NULL DEFAULT 0,
  -- Ids of the provider that are yet to be fetched; empty once a run is over.
  pending text[] NOT NULL DEFAULT '{}',
  -- How often in a row the provider said to come again later.
  waits integer NOT NULL DEFAULT 0,
  listed integer NOT NULL DEFAULT 0,
  stored integer NOT NULL DEFAULT 0,
  filled integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  unfinished integer NOT NULL DEFAULT 0,
  erased integer NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  CONSTRAINT integration_sync_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integration_sync_runs_sync_fkey FOREIGN KEY (organization_id, integration_id)
    REFERENCES integration_syncs (organization_id, integration_id) ON DELETE CASCADE,
  CONSTRAINT integration_sync_runs_status_check CHECK (status IN ('running', 'completed', 'failed', 'cancelled'))
);

CREATE INDEX integration_sync_runs_list_idx ON integration_sync_runs (organization_id, integration_id, id);
-- One at a time.
CREATE UNIQUE INDEX integration_sync_runs_running_key ON integration_sync_runs (organization_id, integration_id)
  WHERE status = 'running';
-- For the sweep, which goes over all organizations.
CREATE INDEX integration_sync_runs_ended_idx ON integration_sync_runs (ended_at) WHERE ended_at IS NOT NULL;

-- Calls that the provider has and we do not: those that still go on, and those that could not be taken in. They are
-- looked at again; once stored, they stand here no more.
CREATE TABLE integration_sync_gaps (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  -- The provider's own id of the call.
  external_id text NOT NULL,
  state text NOT NULL,
  reason text,
  began_at timestamptz(3),
  attempts integer NOT NULL,
  tried_at timestamptz(3) NOT NULL,
  next_try_at timestamptz(3) NOT NULL,
  found_at timestamptz(3) NOT NULL,
  CONSTRAINT integration_sync_gaps_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integration_sync_gaps_external_id_key UNIQUE (organization_id, integration_id, external_id),
  CONSTRAINT integration_sync_gaps_sync_fkey FOREIGN KEY (organization_id, integration_id)
    REFERENCES integration_syncs (organization_id, integration_id) ON DELETE CASCADE,
  CONSTRAINT integration_sync_gaps_state_check CHECK (state IN ('unfinished', 'failed'))
);

CREATE INDEX integration_sync_gaps_list_idx ON integration_sync_gaps (organization_id, integration_id, state, id);
CREATE INDEX integration_sync_gaps_due_idx ON integration_sync_gaps (organization_id, integration_id, next_try_at);
-- For the sweep, which goes over all organizations.
CREATE INDEX integration_sync_gaps_found_idx ON integration_sync_gaps (found_at);
