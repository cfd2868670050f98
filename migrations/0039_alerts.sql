-- What people want to be told about, and when it happened.
CREATE TABLE alert_rules (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  severity text NOT NULL,
  condition jsonb NOT NULL,
  -- Null selects all conversations.
  filter jsonb,
  group_by text,
  window_minutes integer NOT NULL,
  minimum_sample integer NOT NULL,
  destination_ids uuid[] NOT NULL,
  owner_user_id uuid,
  repeat_every_minutes integer,
  runbook_url text,
  muted_until timestamptz(3),
  next_check_at timestamptz(3) NOT NULL,
  -- Conditions that look at whole windows look at each of them once.
  checked_until timestamptz(3),
  -- Null for the rules that every organization starts with.
  created_by_user_id uuid,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT alert_rules_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alert_rules_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT alert_rules_severity_check CHECK (severity IN ('info', 'warning', 'critical')),
  CONSTRAINT alert_rules_group_check CHECK (group_by IN ('agent', 'company', 'version'))
);

CREATE INDEX alert_rules_due_idx ON alert_rules (next_check_at) WHERE enabled;

CREATE TABLE alert_incidents (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  alert_rule_id uuid NOT NULL,
  -- The rule's name and where to send news, as they were when it opened, so that they outlive the rule.
  rule_name text NOT NULL,
  severity text NOT NULL,
  status text NOT NULL,
  -- Empty for rules without groups.
  group_key text NOT NULL,
  group_label text,
  -- What was measured, as of the last check that met the condition.
  reading jsonb NOT NULL,
  conversation_ids uuid[] NOT NULL,
  opened_at timestamptz(3) NOT NULL,
  acknowledged_at timestamptz(3),
  acknowledged_by_user_id uuid,
  resolved_at timestamptz(3),
  resolved_by_user_id uuid,
  -- Since when the condition is no longer met.
  clear_since timestamptz(3),
  -- Null while nothing was sent, because the rule was muted.
  notified_at timestamptz(3),
  CONSTRAINT alert_incidents_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alert_incidents_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT alert_incidents_status_check CHECK (status IN ('firing', 'acknowledged', 'resolved')),
  CONSTRAINT alert_incidents_resolved_check CHECK ((resolved_at IS NOT NULL) = (status = 'resolved'))
);

-- One open incident for each rule and group.
CREATE UNIQUE INDEX alert_incidents_open_key ON alert_incidents (organization_id, alert_rule_id, group_key)
  WHERE status <> 'resolved';
CREATE INDEX alert_incidents_rule_idx ON alert_incidents (organization_id, alert_rule_id, id);
CREATE INDEX alert_incidents_opened_idx ON alert_incidents (organization_id, opened_at);

-- The timeline of an incident.
CREATE TABLE alert_incident_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  incident_id uuid NOT NULL,
  kind text NOT NULL,
  -- Null if Earshot did it.
  user_id uuid,
  -- A comment, as rich text.
  body jsonb,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT alert_incident_events_pkey PRIMARY KEY (organization_id, incident_id, id),
  CONSTRAINT alert_incident_events_incident_fkey FOREIGN KEY (organization_id, incident_id)
    REFERENCES alert_incidents (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alert_incident_events_kind_check
    CHECK (kind IN ('opened', 'repeated', 'acknowledged', 'resolved', 'commented')),
  CONSTRAINT alert_incident_events_body_check CHECK ((body IS NOT NULL) = (kind = 'commented'))
);
