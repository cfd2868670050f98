-- Exports that are asked for again and again, and where their files go.
CREATE TABLE export_schedules (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  -- In one spelling, with its defaults; without a window, which each run has of its own.
  config jsonb NOT NULL,
  recurrence jsonb NOT NULL,
  -- Which calls a run is of, counted back from its instant.
  window_rule jsonb NOT NULL,
  settle_minutes integer NOT NULL,
  destination jsonb NOT NULL,
  -- The secret access key of a bucket, sealed.
  secret text,
  status text NOT NULL DEFAULT 'active',
  pause_reason text,
  -- Failed runs since the last one that succeeded.
  failures integer NOT NULL DEFAULT 0,
  -- Where the window of the last run that succeeded ended: where one since the last run begins.
  covered_until timestamptz(3) NOT NULL,
  next_run_at timestamptz(3) NOT NULL,
  -- On whose behalf it runs.
  owner_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT export_schedules_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT export_schedules_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT export_schedules_status_check CHECK (status IN ('active', 'paused')),
  CONSTRAINT export_schedules_reason_check
    CHECK ((status = 'paused') = (pause_reason IS NOT NULL) AND pause_reason IN ('by_hand', 'failing', 'owner_left')),
  CONSTRAINT export_schedules_secret_check CHECK ((destination ->> 'type' = 's3') = (secret IS NOT NULL))
);

CREATE INDEX export_schedules_due_idx ON export_schedules (next_run_at) WHERE status = 'active';

CREATE TABLE export_schedule_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  schedule_id uuid NOT NULL,
  -- The instant that the schedule names, or at which somebody asked for it.
  planned_for timestamptz(3) NOT NULL,
  is_manual boolean NOT NULL,
  since timestamptz(3) NOT NULL,
  until timestamptz(3) NOT NULL,
  -- Null when none could be made.
  export_id uuid,
  status text NOT NULL,
  -- Under which the file lies in the bucket: one key a run, so that a second upload writes the same object.
  object_key text,
  -- Of the delivery.
  attempts integer NOT NULL DEFAULT 0,
  error text,
  created_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  CONSTRAINT export_schedule_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT export_schedule_runs_planned_key UNIQUE (organization_id, schedule_id, planned_for),
  CONSTRAINT export_schedule_runs_schedule_fkey FOREIGN KEY (organization_id, schedule_id)
    REFERENCES export_schedules (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT export_schedule_runs_export_fkey FOREIGN KEY (organization_id, export_id)
    REFERENCES monitor_exports (organization_id, id),
  CONSTRAINT export_schedule_runs_status_check CHECK (status IN ('generating', 'delivering', 'succeeded', 'failed')),
  CONSTRAINT export_schedule_runs_window_check CHECK (since < until)
);

CREATE UNIQUE INDEX export_schedule_runs_unfinished_idx ON export_schedule_runs (organization_id, schedule_id)
  WHERE status IN ('generating', 'delivering');
CREATE UNIQUE INDEX export_schedule_runs_export_idx ON export_schedule_runs (organization_id, export_id)
  WHERE export_id IS NOT NULL;
CREATE INDEX export_schedule_runs_list_idx ON export_schedule_runs (organization_id, schedule_id, id);

-- Which schedule asked for it, and what it was called then. The schedule may be deleted since.
ALTER TABLE monitor_exports
  ADD COLUMN schedule_id uuid,
  ADD COLUMN schedule_name text;
