-- Where alerts and digests are sent: e-mail, Slack, Microsoft Teams, PagerDuty, Opsgenie, or a webhook endpoint.
CREATE TABLE destinations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  -- As the interface returns them, with the secret masked.
  settings jsonb NOT NULL,
  -- The URL, routing key, or API key, sealed. Null for kinds without one.
  secret text,
  status text NOT NULL DEFAULT 'active',
  -- The first failed delivery since the last success; null when nothing failed since.
  failing_since timestamptz(3),
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT destinations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT destinations_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT destinations_creator_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id),
  CONSTRAINT destinations_kind_check CHECK (kind IN ('email', 'slack', 'teams', 'pagerduty', 'opsgenie', 'webhook')),
  CONSTRAINT destinations_secret_check CHECK ((secret IS NULL) = (kind IN ('email', 'webhook'))),
  CONSTRAINT destinations_status_check CHECK (status IN ('active', 'disabled'))
);

-- One message to one destination.
CREATE TABLE destination_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  destination_id uuid NOT NULL,
  -- What happened to the subject, such as opened or resolved.
  kind text NOT NULL,
  -- What the message is about: an incident, for example. Only its newest message is sent.
  subject_id uuid NOT NULL,
  -- Numbers the messages about a subject from 1.
  position integer NOT NULL,
  -- The message before it is written in the form of the destination. Contains no secret.
  message jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  reason text,
  attempts integer NOT NULL DEFAULT 0,
  -- The attempts before it was last redelivered.
  earlier_attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT destination_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT destination_deliveries_subject_key UNIQUE (organization_id, destination_id, subject_id, position),
  CONSTRAINT destination_deliveries_destination_fkey FOREIGN KEY (organization_id, destination_id)
    REFERENCES destinations (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT destination_deliveries_status_check CHECK (status IN ('pending', 'succeeded', 'failed', 'superseded')),
  CONSTRAINT destination_deliveries_next_check CHECK ((next_attempt_at IS NOT NULL) = (status = 'pending'))
);

CREATE INDEX destination_deliveries_list_idx ON destination_deliveries (organization_id, destination_id, id);
CREATE INDEX destination_deliveries_status_idx ON destination_deliveries (organization_id, destination_id, status, id);
CREATE INDEX destination_deliveries_old_idx ON destination_deliveries (organization_id, created_at);

CREATE TABLE destination_attempts (
  organization_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  attempted_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  -- Null if there was no response; then there is an error.
  status_code smallint,
  error text,
  -- The beginning of the response.
  answer text,
  CONSTRAINT destination_attempts_pkey PRIMARY KEY (organization_id, delivery_id, number),
  CONSTRAINT destination_attempts_delivery_fkey FOREIGN KEY (organization_id, delivery_id)
    REFERENCES destination_deliveries (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT destination_attempts_outcome_check CHECK ((status_code IS NULL) = (error IS NOT NULL))
);
