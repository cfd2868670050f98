-- Outcomes that belong together, to be measured again with the next experiment.
CREATE TABLE monitor_groups (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  monitor_ids uuid[] NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT monitor_groups_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT monitor_groups_name_key UNIQUE (organization_id, name),
  CONSTRAINT monitor_groups_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE experiments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  agent_id uuid NOT NULL,
  arm_a_version_id uuid NOT NULL,
  arm_b_version_id uuid NOT NULL,
  arm_a_name text,
  arm_b_name text,
  -- As they were sent.
  cohort_filters jsonb NOT NULL,
  assignment_unit jsonb NOT NULL,
  expected_arm_a_percent integer,
  monitor_group_id uuid,
  emails text[] NOT NULL,
  -- What the intervals are made with, as it was at the launch.
  alpha double precision NOT NULL,
  tuning_conversations integer NOT NULL,
  status text NOT NULL,
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  finished_by_user_id uuid,
  created_by_user_id uuid NOT NULL,
  -- The least p of the split so far: it is looked at again and again.
  least_split_p double precision NOT NULL DEFAULT 1,
  -- When people were told that the routing is not what was confirmed.
  alarmed_at timestamptz(3),
  -- Until when what was observed is as it is told.
  counted_at timestamptz(3) NOT NULL,
  CONSTRAINT experiments_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT experiments_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT experiments_arm_a_fkey FOREIGN KEY (organization_id, arm_a_version_id)
    REFERENCES agent_versions (organization_id, id),
  CONSTRAINT experiments_arm_b_fkey FOREIGN KEY (organization_id, arm_b_version_id)
    REFERENCES agent_versions (organization_id, id),
  CONSTRAINT experiments_group_fkey FOREIGN KEY (organization_id, monitor_group_id)
    REFERENCES monitor_groups (organization_id, id),
  CONSTRAINT experiments_arms_check CHECK (arm_a_version_id <> arm_b_version_id),
  CONSTRAINT experiments_status_check CHECK (status IN ('running', 'finished')),
  CONSTRAINT experiments_finished_check CHECK ((status = 'finished') = (finished_at IS NOT NULL))
);

CREATE INDEX experiments_agent_idx ON experiments (organization_id, agent_id, started_at);
CREATE INDEX experiments_group_idx ON experiments (organization_id, monitor_group_id)
  WHERE monitor_group_id IS NOT NULL;

-- The monitors as they were at the launch, with all that their results are computed from. They outlive the monitors.
CREATE TABLE experiment_outcomes (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  -- In the order of the launch, the primary one among them.
  position smallint NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  monitor_name text NOT NULL,
  monitor_kind text NOT NULL,
  is_primary boolean NOT NULL,
  scope jsonb NOT NULL,
  kind text NOT NULL,
  -- Of scores, where the definition has them.
  range_low double precision,
  range_high double precision,
  -- Sums over units, exact: whole numbers over powers of two.
  sums json NOT NULL,
  -- Extremes of every look so far, which no later look takes back.
  largest_e_value double precision NOT NULL DEFAULT 1,
  least_p double precision NOT NULL DEFAULT 1,
  first_excluded_zero_at timestamptz(3),
  -- How it stood at up to 200 moments.
  timeline json NOT NULL DEFAULT '[]',
  CONSTRAINT experiment_outcomes_pkey PRIMARY KEY (organization_id, experiment_id, position),
  CONSTRAINT experiment_outcomes_monitor_key UNIQUE (organization_id, experiment_id, monitor_id),
  CONSTRAINT experiment_outcomes_experiment_fkey FOREIGN KEY (organization_id, experiment_id)
    REFERENCES experiments (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_outcomes_kind_check CHECK (kind IN ('boolean', 'numeric'))
);

CREATE INDEX experiment_outcomes_monitor_idx ON experiment_outcomes (organization_id, monitor_id);

-- What may have changed for an experiment: written in the transaction of the change, and deleted by who counted it. Rows
-- are only ever added and deleted, so that no writer waits for another.
CREATE TABLE experiment_changes (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- Whoever came after the end is not counted.
  at timestamptz(3) NOT NULL,
  CONSTRAINT experiment_changes_pkey PRIMARY KEY (organization_id, experiment_id, id)
);

-- The conversations of an experiment as they are counted.
CREATE TABLE experiment_conversations (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- a or b; null is a version of the agent that is in neither arm.
  arm text,
  -- Which one that is.
  other_version_id uuid,
  unit_id uuid NOT NULL,
  -- It has no unit but itself.
  is_alone boolean NOT NULL,
  started_at timestamptz(3) NOT NULL,
  company_id uuid,
  direction text,
  -- When it was counted first: what has no answer a day later is missing.
  added_at timestamptz(3) NOT NULL,
  -- When it was last asked for again.
  retried_at timestamptz(3),
  -- By position: 0 not applicable, 1 observed, 2 pending, 3 missing, 4 failed.
  statuses smallint[] NOT NULL,
  -- By position: what was observed.
  observed double precision[] NOT NULL,
  is_pending boolean NOT NULL,
  CONSTRAINT experiment_conversations_pkey PRIMARY KEY (organization_id, experiment_id, conversation_id),
  CONSTRAINT experiment_conversations_experiment_fkey FOREIGN KEY (organization_id, experiment_id)
    REFERENCES experiments (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_conversations_arm_check CHECK (arm IN ('a', 'b'))
);

-- Which arm a unit came to first.
CREATE INDEX experiment_conversations_unit_idx
  ON experiment_conversations (organization_id, experiment_id, unit_id, started_at, conversation_id) WHERE arm IS NOT NULL;
CREATE INDEX experiment_conversations_pending_idx ON experiment_conversations (organization_id, experiment_id, added_at)
  WHERE is_pending;

-- Callers, or whatever else is assigned to an arm, with what they hold in each.
CREATE TABLE experiment_units (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  id uuid NOT NULL,
  conversations_a integer NOT NULL,
  conversations_b integer NOT NULL,
  -- Of its first conversation.
  first_arm text NOT NULL,
  first_at timestamptz(3) NOT NULL,
  -- By position, what it has of the outcome in each arm.
  held json NOT NULL,
  CONSTRAINT experiment_units_pkey PRIMARY KEY (organization_id, experiment_id, id),
  CONSTRAINT experiment_units_experiment_fkey FOREIGN KEY (organization_id, experiment_id)
    REFERENCES experiments (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_units_first_arm_check CHECK (first_arm IN ('a', 'b'))
);

-- How the arms compare in what should not differ between them: of units by the day they came and by how often they came,
-- of conversations by hour of day, company and direction, and of other versions.
CREATE TABLE experiment_splits (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  dimension text NOT NULL,
  value text NOT NULL,
  a integer NOT NULL,
  b integer NOT NULL,
  CONSTRAINT experiment_splits_pkey PRIMARY KEY (organization_id, experiment_id, dimension, value),
  CONSTRAINT experiment_splits_experiment_fkey FOREIGN KEY (organization_id, experiment_id)
    REFERENCES experiments (organization_id, id) ON DELETE CASCADE
);

-- Of companies and other versions there may be very many: the largest are shown.
CREATE INDEX experiment_splits_size_idx ON experiment_splits (organization_id, experiment_id, dimension, (a + b));

-- One from the launch for what arrives, and one for each time that what is lacking is asked for again.
CREATE TABLE experiment_runs (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  id uuid NOT NULL,
  trigger text NOT NULL,
  status text NOT NULL,
  failure text,
  -- Of a retry; those of what arrives are the counts of the outcomes.
  total integer NOT NULL DEFAULT 0,
  scored integer NOT NULL DEFAULT 0,
  unscored integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  -- The last conversation that was asked again.
  after_id uuid,
  -- How often in a row the model endpoint was waited for.
  waits integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  CONSTRAINT experiment_runs_pkey PRIMARY KEY (organization_id, experiment_id, id),
  CONSTRAINT experiment_runs_experiment_fkey FOREIGN KEY (organization_id, experiment_id)
    REFERENCES experiments (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_runs_trigger_check CHECK (trigger IN ('launch', 'retry')),
  CONSTRAINT experiment_runs_status_check CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  CONSTRAINT experiment_runs_finished_check
    CHECK ((finished_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled')))
);

CREATE UNIQUE INDEX experiment_runs_unfinished_key ON experiment_runs (organization_id, experiment_id, trigger)
  WHERE status IN ('queued', 'running');
