-- Where events are sent: an address of the organization's own that an admin has approved.
CREATE TABLE webhook_endpoints (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  -- The kinds that it subscribes to.
  events text[] NOT NULL,
  status text NOT NULL DEFAULT 'proposed',
  disabled_reason text,
  -- Sealed. The one before it still signs, beside it, until its time is over.
  secret text NOT NULL,
  previous_secret text,
  previous_secret_until timestamptz(3),
  approved_by_user_id uuid,
  approved_at timestamptz(3),
  -- The first failed attempt since anything was accepted; null when nothing failed since.
  failing_since timestamptz(3),
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_endpoints_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT webhook_endpoints_creator_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id),
  CONSTRAINT webhook_endpoints_approver_fkey FOREIGN KEY (approved_by_user_id) REFERENCES users (id),
  CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('proposed', 'active', 'disabled')),
  CONSTRAINT webhook_endpoints_approval_check CHECK (status <> 'active' OR approved_by_user_id IS NOT NULL),
  CONSTRAINT webhook_endpoints_reason_check CHECK ((disabled_reason IS NOT NULL) = (status = 'disabled')),
  CONSTRAINT webhook_endpoints_secret_check CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);

-- One event for one endpoint. Those of a deleted endpoint go when their time is over.
CREATE TABLE webhook_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  event_type text NOT NULL,
  -- JSON, byte for byte as it is signed and sent.
  body text NOT NULL,
  -- Nothing is sent once this user is no member any more.
  only_while_member uuid,
  status text NOT NULL DEFAULT 'pending',
  -- Why it was not accepted, in words for its reader.
  reason text,
  attempts integer NOT NULL DEFAULT 0,
  -- Of these, the ones before it was last sent anew.
  earlier_attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_deliveries_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('pending', 'succeeded', 'failed')),
  CONSTRAINT webhook_deliveries_next_check CHECK ((next_attempt_at IS NOT NULL) = (status = 'pending'))
);

CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (organization_id, endpoint_id, id);
CREATE INDEX webhook_deliveries_status_idx ON webhook_deliveries (organization_id, endpoint_id, status, id);
-- For the sweep, which goes over all organizations.
CREATE INDEX webhook_deliveries_created_idx ON webhook_deliveries (created_at);

CREATE TABLE webhook_attempts (
  organization_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  attempted_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  -- Null when there was no answer; then there is an error.
  status_code smallint,
  error text,
  -- The beginning of the answer.
  answer text,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (organization_id, delivery_id, number),
  CONSTRAINT webhook_attempts_delivery_fkey FOREIGN KEY (organization_id, delivery_id)
    REFERENCES webhook_deliveries (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT webhook_attempts_outcome_check CHECK ((status_code IS NULL) = (error IS NOT NULL))
);
