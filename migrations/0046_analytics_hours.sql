-- Hours with changed conversations or results, noted in the transaction of the change. Nothing is unique about a note, so
-- none waits for another.
CREATE TABLE analytics_changes (
  organization_id uuid NOT NULL,
  hour timestamptz(3) NOT NULL,
  id uuid NOT NULL,
  at timestamptz(3) NOT NULL,
  CONSTRAINT analytics_changes_pkey PRIMARY KEY (organization_id, hour, id)
);

-- What was counted in each hour (UTC): sums of a subject, such as a monitor’s rate. Always rebuilt from the conversations and
-- results of the whole hour. Hours with a note in `analytics_changes` are not read.
CREATE TABLE analytics_hours (
  organization_id uuid NOT NULL,
  subject text NOT NULL,
  -- Which columns the sums are grouped by: 4 agent and version, 2 company, 1 channel and direction, or their sum.
  grain smallint NOT NULL,
  hour timestamptz(3) NOT NULL,
  number integer NOT NULL,
  agent_id uuid,
  agent_version_id uuid,
  company_id uuid,
  channel text,
  direction text,
  count integer NOT NULL,
  hits integer NOT NULL,
  sum double precision NOT NULL,
  squares double precision NOT NULL,
  -- The rounded values and how often each occurs, for percentiles.
  steps smallint[],
  counts integer[],
  CONSTRAINT analytics_hours_pkey PRIMARY KEY (organization_id, subject, grain, hour, number)
);

CREATE INDEX analytics_hours_hour_idx ON analytics_hours (organization_id, hour);

CREATE TABLE analytics_states (
  organization_id uuid NOT NULL,
  -- Hours from here on are built; those before follow, newest first. Null when all are.
  built_since timestamptz(3),
  -- Counts the builds. Each changes it first, so that two at once never both commit.
  builds bigint NOT NULL,
  -- The nightly check compares hours with their conversations, from here on.
  checked_until timestamptz(3),
  checked_at timestamptz(3),
  checked_hours integer NOT NULL DEFAULT 0,
  differing_hours integer NOT NULL DEFAULT 0,
  differed_at timestamptz(3),
  CONSTRAINT analytics_states_pkey PRIMARY KEY (organization_id),
  CONSTRAINT analytics_states_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
