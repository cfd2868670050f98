-- What the sign-in library keeps of a person. Nothing proves an address yet, and no picture is taken.
ALTER TABLE users
  ADD COLUMN email_verified boolean NOT NULL DEFAULT false,
  ADD COLUMN image text,
  ADD COLUMN updated_at timestamptz(3) NOT NULL DEFAULT now();

-- How a person signs in: by password now, by other providers later. Reference table, like all that is found by person.
CREATE TABLE accounts (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  provider_id text NOT NULL,
  account_id text NOT NULL,
  -- scrypt, as salt:key in hexadecimal.
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_provider_key UNIQUE (provider_id, account_id),
  CONSTRAINT accounts_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);

CREATE INDEX accounts_user_idx ON accounts (user_id);

-- Found by the hash of the cookie's token alone, so a reference table.
CREATE TABLE sessions (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- SHA-256, in base64: a copy of this table signs nobody in.
  token_hash text NOT NULL,
  -- The one of the person's organizations that the session looks at.
  active_organization_id uuid,
  ip_address text,
  user_agent text,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_token_hash_key UNIQUE (token_hash),
  CONSTRAINT sessions_user_fkey FOREIGN KEY (user_id) REFERENCES users (id),
  CONSTRAINT sessions_organization_fkey FOREIGN KEY (active_organization_id) REFERENCES organizations (id)
);

CREATE INDEX sessions_user_idx ON sessions (user_id);
CREATE INDEX sessions_expires_idx ON sessions (expires_at);

-- One-time values of flows that leave the service and come back, which the sign-in library asks for.
CREATE TABLE verifications (
  id uuid NOT NULL,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT verifications_pkey PRIMARY KEY (id)
);

CREATE INDEX verifications_identifier_idx ON verifications (identifier);

-- The one link by which a member joins; a fresh one takes the place of the old. Its token begins with the
-- organization, so that it is looked up within a tenant.
CREATE TABLE invitations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  member_id uuid NOT NULL,
  -- SHA-256, in base64.
  token_hash text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  accepted_at timestamptz(3),
  -- The operator's links set a password, whether or not the person has one; an organization's never do.
  by_operator boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT invitations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT invitations_member_key UNIQUE (organization_id, member_id),
  CONSTRAINT invitations_token_hash_key UNIQUE (organization_id, token_hash),
  CONSTRAINT invitations_member_fkey FOREIGN KEY (organization_id, member_id)
    REFERENCES members (organization_id, id) ON DELETE CASCADE
);
