-- The model endpoints that an organization configured for its judges. `secret` contains the sealed keys. `settings`
-- contains the rest, with the keys masked.
CREATE TABLE model_providers (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  settings jsonb NOT NULL,
  secret text,
  is_default boolean NOT NULL DEFAULT false,
  limits jsonb NOT NULL,
  prices jsonb NOT NULL,
  -- The providers that answer when this one fails, in order.
  fallback_provider_ids uuid[] NOT NULL,
  status text NOT NULL DEFAULT 'active',
  -- The first failed request since the last answer, and why the latest one failed.
  failing_since timestamptz(3),
  last_fault text,
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT model_providers_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT model_providers_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT model_providers_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id),
  CONSTRAINT model_providers_name_key UNIQUE (organization_id, name),
  CONSTRAINT model_providers_kind_check
    CHECK (kind IN ('openai-compatible', 'anthropic', 'google', 'azure-openai', 'bedrock', 'ollama')),
  CONSTRAINT model_providers_status_check CHECK (status IN ('active', 'disabled'))
);

CREATE UNIQUE INDEX model_providers_default_key ON model_providers (organization_id) WHERE is_default;

-- The requests of the last minute to providers with limits, so that all processes together stay within them. A request
-- in progress occupies a place until `leased_until`, in case its process dies.
CREATE TABLE model_provider_requests (
  organization_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  id uuid NOT NULL,
  started_at timestamptz(3) NOT NULL,
  -- Null once it was answered.
  leased_until timestamptz(3),
  -- Estimated until it was answered.
  tokens integer NOT NULL,
  CONSTRAINT model_provider_requests_pkey PRIMARY KEY (organization_id, provider_id, id),
  CONSTRAINT model_provider_requests_provider_fkey FOREIGN KEY (organization_id, provider_id)
    REFERENCES model_providers (organization_id, id) ON DELETE CASCADE
);
