CREATE TABLE companies (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  logo_url text,
  -- Set when the logo was uploaded; logo_url then addresses this blob.
  logo_key text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT companies_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT companies_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
