-- Charts that are shown together. The boards that every organization has from the start are in the code.
CREATE TABLE boards (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  -- For all charts, including the period.
  filter jsonb NOT NULL,
  compare_to text,
  charts jsonb NOT NULL,
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT boards_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT boards_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT boards_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id)
);
