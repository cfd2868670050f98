-- Lets an index on words or JSON begin with the tenant.
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE TABLE conversations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  agent_id uuid NOT NULL,
  agent_version_id uuid,
  company_id uuid,
  channel text NOT NULL,
  direction text,
  status text NOT NULL,
  -- Never changes: the rows of results carry a copy of it.
  started_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  duration_seconds integer,
  end_reason text,
  customer_id text,
  metadata jsonb NOT NULL,
  signals jsonb NOT NULL,
  review_status text NOT NULL DEFAULT 'none',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT conversations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT conversations_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT conversations_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT conversations_agent_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents (organization_id, id),
  CONSTRAINT conversations_agent_version_fkey FOREIGN KEY (organization_id, agent_version_id)
    REFERENCES agent_versions (organization_id, id),
  CONSTRAINT conversations_company_fkey FOREIGN KEY (organization_id, company_id)
    REFERENCES companies (organization_id, id),
  CONSTRAINT conversations_channel_check CHECK (channel IN ('call', 'chat', 'voicemail')),
  CONSTRAINT conversations_direction_check CHECK (direction IN ('inbound', 'outbound')),
  CONSTRAINT conversations_status_check CHECK (status IN ('in_progress', 'completed', 'failed')),
  CONSTRAINT conversations_review_status_check
    CHECK (review_status IN ('none', 'pending', 'in_progress', 'completed'))
);

CREATE INDEX conversations_time_idx ON conversations (organization_id, started_at, id);
CREATE INDEX conversations_agent_idx ON conversations (organization_id, agent_id, started_at, id);
CREATE INDEX conversations_version_idx ON conversations (organization_id, agent_version_id, started_at, id);
CREATE INDEX conversations_company_idx ON conversations (organization_id, company_id, started_at, id);
CREATE INDEX conversations_customer_idx ON conversations (organization_id, customer_id, started_at, id)
  WHERE customer_id IS NOT NULL;
-- What is still to be done, and what went wrong: few among many.
CREATE INDEX conversations_status_idx ON conversations (organization_id, status, started_at, id)
  WHERE status <> 'completed';
CREATE INDEX conversations_review_idx ON conversations (organization_id, review_status, started_at, id)
  WHERE review_status <> 'none';
CREATE INDEX conversations_metadata_idx ON conversations USING gin (organization_id, metadata jsonb_path_ops);

-- Beside the conversations, so that lists and exports do not wade through text.
CREATE TABLE transcripts (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- JSON as it was given. Turns are read from it each time: reading is pure, and one text has one truth.
  content text NOT NULL,
  -- SHA-256 of the content in base64: tells the same content again without reading it.
  content_hash text NOT NULL,
  content_length integer NOT NULL,
  -- The format that it was read as; null when it is unreadable.
  format text,
  unreadable text,
  turn_count integer NOT NULL,
  -- Of what was said, up to a limit of size.
  words tsvector NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT transcripts_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT transcripts_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE
);

CREATE INDEX transcripts_words_idx ON transcripts USING gin (organization_id, words);

CREATE TABLE recordings (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- Where it is fetched from; null when it was uploaded.
  source_url text,
  status text NOT NULL,
  -- Why the fetch failed, in words for its reader.
  failure text,
  blob_key text,
  content_type text,
  bytes bigint,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT recordings_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT recordings_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT recordings_status_check CHECK (status IN ('pending', 'stored', 'failed'))
);

CREATE UNIQUE INDEX recordings_blob_key_idx ON recordings (organization_id, blob_key) WHERE blob_key IS NOT NULL;

-- What the customer's own systems measured of a conversation.
CREATE TABLE customer_metrics (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  key text NOT NULL,
  -- A number, a boolean or a text.
  value jsonb NOT NULL,
  comment text,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT customer_metrics_pkey PRIMARY KEY (organization_id, conversation_id, key),
  CONSTRAINT customer_metrics_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE
);

-- Erased conversations, known by nothing but a hash, so that a late part does not bring one back.
CREATE TABLE conversation_tombstones (
  organization_id uuid NOT NULL,
  -- SHA-256 of organization and external id, in base64.
  hash text NOT NULL,
  erased_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT conversation_tombstones_pkey PRIMARY KEY (organization_id, hash),
  CONSTRAINT conversation_tombstones_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE saved_views (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  filter jsonb NOT NULL,
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT saved_views_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT saved_views_name_key UNIQUE (organization_id, name),
  CONSTRAINT saved_views_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT saved_views_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id)
);
