-- Jobs in a table of our own, each with its organization, so that workers can take turns between organizations. It takes
-- the place of pg-boss, whose waiting, running and dead jobs move here.
--
-- A job of no organization, such as a sweep, belongs to the highest UUID. `attempt` counts how often a job was taken and
-- names that attempt; `uncounted` of them were given back by workers that stopped. There is no key to organizations: a
-- job may outlive what it is about.
CREATE TABLE jobs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  payload jsonb NOT NULL,
  state text NOT NULL,
  priority integer NOT NULL,
  singleton_key text,
  due_at timestamptz(3) NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  uncounted integer NOT NULL DEFAULT 0,
  worker_key integer,
  lease_until timestamptz(3),
  error text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  ended_at timestamptz(3),
  CONSTRAINT jobs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT jobs_state_check CHECK (state IN ('delayed', 'waiting', 'active', 'completed', 'dead'))
) WITH (
  -- Leases are renewed in the page that holds them already. Rows live for minutes, so what is dead is cleaned up by
  -- their number and not by their share of the table.
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 20000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0
);

-- One for each state, so that a row is in one of them at a time. The first finds the organizations that have work of a
-- kind by skipping from one to the next, and of each what comes first.
CREATE INDEX jobs_waiting_idx ON jobs (name, organization_id, priority DESC, due_at, id) WHERE state = 'waiting';
CREATE INDEX jobs_delayed_idx ON jobs (due_at) WHERE state = 'delayed';
CREATE INDEX jobs_active_idx ON jobs (worker_key) WHERE state = 'active';
CREATE INDEX jobs_ended_idx ON jobs (state, ended_at, id) WHERE state IN ('completed', 'dead');
-- One that waits for its first attempt.
CREATE UNIQUE INDEX jobs_singleton_key ON jobs (organization_id, name, singleton_key)
  WHERE attempt = 0 AND singleton_key IS NOT NULL;

-- When each scheduled job is due next.
CREATE TABLE job_schedules (
  name text NOT NULL,
  next_at timestamptz(3) NOT NULL,
  CONSTRAINT job_schedules_pkey PRIMARY KEY (name)
);

DO $$
BEGIN
  IF to_regclass('pgboss.job') IS NOT NULL THEN
    -- A worker of the version before must not end a job that is copied already. What it does from here on fails with
    -- its transaction.
    LOCK TABLE pgboss.job IN ACCESS EXCLUSIVE MODE;
    EXECUTE $copy$
      INSERT INTO jobs (organization_id, id, name, payload, state, priority, singleton_key, due_at, attempt, uncounted,
        error, created_at, ended_at)
      SELECT
        CASE
          WHEN data->>'organizationId' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
            THEN (data->>'organizationId')::uuid
          -- The key of a file begins with its organization.
          WHEN data->>'key' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/' THEN left(data->>'key', 36)::uuid
          ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        END,
        id, name, coalesce(data, '{}'),
        CASE
          WHEN state = 'failed' THEN 'dead'
          WHEN state <> 'active' AND start_after > now() THEN 'delayed'
          ELSE 'waiting'
        END,
        priority, nullif(singleton_key, id::text), start_after,
        CASE WHEN started_on IS NULL THEN 0 ELSE retry_count + 1 END,
        greatest(retry_limit - 1000000, 0),
        output->>'message', created_on,
        CASE WHEN state = 'failed' THEN coalesce(completed_on, now()) END
      FROM pgboss.job
      WHERE state IN ('created', 'retry', 'active', 'failed') AND name NOT LIKE '\_\_pgboss\_\_%'
    $copy$;
    DROP SCHEMA pgboss CASCADE;
  END IF;
END $$;

DROP TABLE job_holders;
