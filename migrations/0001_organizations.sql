-- In rising order, so that least() of two roles is the lower one.
CREATE TYPE role AS ENUM ('viewer', 'member', 'admin', 'owner');

-- The tenant. Found without a tenant, so it is a reference table when distributed (docs/decisions/0003-tenancy.md).
CREATE TABLE organizations (
  id uuid NOT NULL,
  name text NOT NULL,
  slug text NOT NULL,
  suspended_at timestamptz(3),
  monitors boolean NOT NULL,
  observability boolean NOT NULL,
  metrics boolean NOT NULL,
  monitor_exports boolean NOT NULL,
  export_webhooks boolean NOT NULL,
  experiments_v2 boolean NOT NULL,
  phi_mode boolean NOT NULL,
  retention_days integer,
  redaction boolean NOT NULL DEFAULT false,
  monthly_judge_budget numeric(12, 2),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT organizations_pkey PRIMARY KEY (id),
  CONSTRAINT organizations_slug_key UNIQUE (slug)
);

-- People, who may belong to several organizations. Email is kept in lower case.
CREATE TABLE users (
  id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email)
);

CREATE TABLE members (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  role role NOT NULL,
  joined_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT members_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT members_user_key UNIQUE (organization_id, user_id),
  CONSTRAINT members_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT members_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);

-- Found by hash alone, so a reference table too. The creator is a member, which whoever inserts makes sure of.
CREATE TABLE api_keys (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- SHA-256, in base64.
  hash text NOT NULL,
  prefix text NOT NULL,
  name text NOT NULL,
  role role NOT NULL,
  created_by_user_id uuid NOT NULL,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT api_keys_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT api_keys_hash_key UNIQUE (hash),
  CONSTRAINT api_keys_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT api_keys_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id)
);

-- Keys of the instance, made by the command line.
CREATE TABLE service_keys (
  id uuid NOT NULL,
  -- SHA-256, in base64.
  hash text NOT NULL,
  prefix text NOT NULL,
  name text NOT NULL,
  revoked_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT service_keys_pkey PRIMARY KEY (id),
  CONSTRAINT service_keys_hash_key UNIQUE (hash)
);

-- Append-only: nothing in the code updates or deletes its rows.
CREATE TABLE audit_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  action text NOT NULL,
  actor jsonb NOT NULL,
  targets jsonb NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT audit_events_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT audit_events_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
