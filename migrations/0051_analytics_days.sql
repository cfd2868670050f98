-- Sums of days replace those of hours, which took a row for each group, hour, and subject. They are built anew.
DROP TABLE analytics_hours;
DROP TABLE analytics_states;

CREATE TABLE analytics_progress (
  organization_id uuid NOT NULL,
  -- Days from here on are built; those before follow, newest first. Null when all are.
  built_since timestamptz(3),
  -- Counts the builds. Each changes it first, so that two at once never both commit.
  builds bigint NOT NULL,
  -- The nightly check compares days with their conversations, from here on.
  checked_until timestamptz(3),
  checked_at timestamptz(3),
  checked_days integer NOT NULL DEFAULT 0,
  differing_days integer NOT NULL DEFAULT 0,
  differed_at timestamptz(3),
  CONSTRAINT analytics_progress_pkey PRIMARY KEY (organization_id),
  CONSTRAINT analytics_progress_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

-- The groups that are summed, each with a number.
CREATE TABLE analytics_groups (
  organization_id uuid NOT NULL,
  -- Which columns tell groups apart: 4 agent and version, 2 company, 1 channel and direction, 7 all of these.
  grain smallint NOT NULL,
  number integer NOT NULL,
  agent_id uuid,
  agent_version_id uuid,
  company_id uuid,
  channel text,
  direction text,
  CONSTRAINT analytics_groups_pkey PRIMARY KEY (organization_id, grain, number),
  CONSTRAINT analytics_groups_columns_key UNIQUE NULLS NOT DISTINCT
    (organization_id, grain, agent_id, agent_version_id, company_id, channel, direction)
);

-- What was counted on each day (UTC): sums of a subject, such as a monitor’s rate, by group and hour. Always rebuilt from the
-- conversations and results of the whole day. Hours with a note in `analytics_changes` are not read. Days with few
-- conversations have no rows.
CREATE TABLE analytics_days (
  organization_id uuid NOT NULL,
  subject text NOT NULL,
  -- That of the groups, or 0 for all conversations together, whose group is 0.
  grain smallint NOT NULL,
  day timestamptz(3) NOT NULL,
  -- Big-endian, for each group and hour in this order: group (4 bytes), hour (2), count (4), hits (4), sum and sum of squares
  -- (float8 each). Groups by all columns are only summed by day; their hour is -1.
  hours bytea NOT NULL,
  -- The rounded values for percentiles. For each group and hour: group (4 bytes), hour (2), how many (4), and each of them with
  -- its count (2 and 4).
  hour_steps bytea,
  -- The same for whole days; their hour is -1.
  day_steps bytea,
  CONSTRAINT analytics_days_pkey PRIMARY KEY (organization_id, subject, grain, day)
);

CREATE INDEX analytics_days_day_idx ON analytics_days (organization_id, day);
