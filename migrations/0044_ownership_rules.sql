-- Who is in charge of new findings and incidents. The first rule that matches decides.
CREATE TABLE ownership_rules (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  -- From 1, without gaps.
  position integer NOT NULL,
  -- An empty list matches everything.
  agent_ids uuid[] NOT NULL,
  company_ids uuid[] NOT NULL,
  tags text[] NOT NULL,
  owner_user_id uuid,
  destination_ids uuid[] NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT ownership_rules_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT ownership_rules_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

-- The owner when it opened: of its rule, or by an ownership rule.
ALTER TABLE alert_incidents ADD COLUMN owner_user_id uuid;
-- Where an ownership rule sends it, besides the destinations of its rule.
ALTER TABLE alert_incidents ADD COLUMN routed_destination_ids uuid[] NOT NULL DEFAULT '{}';
