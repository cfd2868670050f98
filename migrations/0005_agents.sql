CREATE TABLE agents (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  name text NOT NULL,
  channel text NOT NULL,
  company_id uuid,
  current_version_id uuid,
  archived_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT agents_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT agents_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT agents_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT agents_company_fkey FOREIGN KEY (organization_id, company_id) REFERENCES companies (organization_id, id),
  CONSTRAINT agents_channel_check CHECK (channel IN ('voice', 'text'))
);

CREATE INDEX agents_company_idx ON agents (organization_id, company_id);

-- Immutable. The same prompt and configuration is the same version, which the hash finds.
CREATE TABLE agent_versions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  agent_id uuid NOT NULL,
  number integer NOT NULL,
  label text,
  system_prompt text NOT NULL,
  config jsonb NOT NULL,
  -- SHA-256 of prompt and configuration in one spelling, in base64.
  content_hash text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT agent_versions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT agent_versions_number_key UNIQUE (organization_id, agent_id, number),
  CONSTRAINT agent_versions_content_key UNIQUE (organization_id, agent_id, content_hash),
  CONSTRAINT agent_versions_label_key UNIQUE (organization_id, agent_id, label),
  CONSTRAINT agent_versions_agent_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents (organization_id, id)
);

CREATE TABLE agent_groups (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT agent_groups_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT agent_groups_name_key UNIQUE (organization_id, name),
  CONSTRAINT agent_groups_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE agent_group_members (
  organization_id uuid NOT NULL,
  group_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  CONSTRAINT agent_group_members_pkey PRIMARY KEY (organization_id, group_id, agent_id),
  CONSTRAINT agent_group_members_group_fkey FOREIGN KEY (organization_id, group_id)
    REFERENCES agent_groups (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT agent_group_members_agent_fkey FOREIGN KEY (organization_id, agent_id)
    REFERENCES agents (organization_id, id) ON DELETE CASCADE
);

CREATE INDEX agent_group_members_agent_idx ON agent_group_members (organization_id, agent_id);
