-- What model endpoints answered, by hour, for the health of an organization. Kept for two days.
CREATE TABLE judge_requests (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  hour timestamptz(3) NOT NULL,
  model text NOT NULL,
  requests integer NOT NULL,
  failed integer NOT NULL,
  duration_ms bigint NOT NULL,
  -- Answered within these times, each including the ones before.
  within_1s integer NOT NULL,
  within_3s integer NOT NULL,
  within_10s integer NOT NULL,
  within_30s integer NOT NULL,
  last_fault text,
  last_failed_at timestamptz(3),
  last_answered_at timestamptz(3),
  CONSTRAINT judge_requests_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT judge_requests_hour_key UNIQUE (organization_id, hour, model),
  CONSTRAINT judge_requests_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

-- The size of the database by day, for its growth.
CREATE TABLE database_sizes (
  day date NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT database_sizes_pkey PRIMARY KEY (day)
);
