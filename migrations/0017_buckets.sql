-- Conversations that people are to review.
CREATE TABLE buckets (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  agent_id uuid,
  name text NOT NULL,
  type text NOT NULL,
  filters jsonb NOT NULL,
  -- Of a sampled one: percent of what the filters select, or so many of each week.
  share double precision,
  per_week integer,
  -- Nobody in it is everyone.
  reviewer_user_ids uuid[] NOT NULL,
  reviews_per_conversation smallint NOT NULL,
  monitor_ids uuid[] NOT NULL,
  blind boolean NOT NULL,
  note_on_disagreement boolean NOT NULL,
  -- Conversations that were stored before are not put in by the filters.
  follows_since timestamptz(3) NOT NULL DEFAULT now(),
  -- Of a weekly quota: what began before has been drawn from.
  drawn_until timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT buckets_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT buckets_name_key UNIQUE (organization_id, name),
  CONSTRAINT buckets_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT buckets_agent_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents (organization_id, id),
  CONSTRAINT buckets_type_check CHECK (type IN ('static', 'dynamic', 'sampled')),
  CONSTRAINT buckets_sample_check CHECK (num_nonnulls(share, per_week) = CASE type WHEN 'sampled' THEN 1 ELSE 0 END),
  CONSTRAINT buckets_drawn_check CHECK ((drawn_until IS NOT NULL) = (per_week IS NOT NULL)),
  CONSTRAINT buckets_share_check CHECK (share > 0 AND share <= 100),
  CONSTRAINT buckets_per_week_check CHECK (per_week > 0),
  CONSTRAINT buckets_reviews_check CHECK (reviews_per_conversation BETWEEN 1 AND 5)
);

CREATE INDEX buckets_agent_idx ON buckets (organization_id, agent_id) WHERE agent_id IS NOT NULL;

-- Whoever changes a row, or the reviews that it sums up, holds its conversation.
CREATE TABLE bucket_conversations (
  organization_id uuid NOT NULL,
  bucket_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'waiting',
  -- As the bucket had it when the conversation was put in.
  reviews_wanted smallint NOT NULL,
  reviews_completed smallint NOT NULL DEFAULT 0,
  -- Who has a review of it that is in progress, completed or skipped.
  reviewer_user_ids uuid[] NOT NULL DEFAULT '{}',
  -- When a review of it may be claimed: now, or when the first lease ends.
  free_at timestamptz(3) NOT NULL DEFAULT '-infinity',
  added_at timestamptz(3) NOT NULL,
  CONSTRAINT bucket_conversations_pkey PRIMARY KEY (organization_id, bucket_id, conversation_id),
  CONSTRAINT bucket_conversations_bucket_fkey FOREIGN KEY (organization_id, bucket_id)
    REFERENCES buckets (organization_id, id),
  CONSTRAINT bucket_conversations_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT bucket_conversations_status_check CHECK (status IN ('waiting', 'adjudication', 'completed'))
);

CREATE INDEX bucket_conversations_conversation_idx ON bucket_conversations (organization_id, conversation_id);
CREATE INDEX bucket_conversations_added_idx
  ON bucket_conversations (organization_id, bucket_id, added_at, conversation_id);
-- Claims read it from the oldest on.
CREATE INDEX bucket_conversations_waiting_idx
  ON bucket_conversations (organization_id, bucket_id, added_at, conversation_id) WHERE status = 'waiting';

ALTER TABLE reviews
  ADD COLUMN bucket_id uuid,
  -- It decides between others.
  ADD COLUMN adjudicates boolean NOT NULL DEFAULT false,
  ADD COLUMN updated_at timestamptz(3) NOT NULL DEFAULT now(),
  ADD CONSTRAINT reviews_bucket_fkey FOREIGN KEY (organization_id, bucket_id) REFERENCES buckets (organization_id, id),
  ADD CONSTRAINT reviews_lease_check CHECK (lease_expires_at IS NULL OR (status = 'in_progress' AND bucket_id IS NOT NULL));

CREATE UNIQUE INDEX reviews_bucket_key ON reviews (organization_id, bucket_id, conversation_id, reviewer_user_id)
  WHERE bucket_id IS NOT NULL AND NOT adjudicates;
CREATE INDEX reviews_reviewer_idx ON reviews (organization_id, reviewer_user_id, id);
CREATE INDEX reviews_lease_idx ON reviews (organization_id, reviewer_user_id, lease_expires_at)
  WHERE lease_expires_at IS NOT NULL;

ALTER TABLE review_judgments
  -- The same person has judged the same again, or somebody has decided otherwise or alike: it counts no more.
  ADD COLUMN superseded boolean NOT NULL DEFAULT false;
