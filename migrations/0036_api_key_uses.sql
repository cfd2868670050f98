-- The last use of a key is written often. On a cluster api_keys has a copy on every node, and a write locks all of them.
CREATE TABLE api_key_uses (
  organization_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  last_used_at timestamptz(3) NOT NULL,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (organization_id, api_key_id),
  CONSTRAINT api_key_uses_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
INSERT INTO api_key_uses (organization_id, api_key_id, last_used_at)
SELECT organization_id, id, last_used_at FROM api_keys WHERE last_used_at IS NOT NULL;
ALTER TABLE api_keys DROP COLUMN last_used_at;
