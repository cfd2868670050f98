-- Attempts at a password since the last success, by a keyed hash of whom or what they are counted for: an account, or a
-- device that has signed in to it before. Nothing of it belongs to a tenant, and a lost count only forgives failures.
CREATE TABLE sign_in_attempts (
  key_hash text NOT NULL,
  attempts integer NOT NULL,
  blocked_until timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (key_hash)
);

CREATE INDEX sign_in_attempts_last_idx ON sign_in_attempts (last_at);

-- The address that a person wants to have, until they open the link that was mailed there. The last one counts. Found
-- without an organization, so a reference table.
CREATE TABLE address_changes (
  user_id uuid NOT NULL,
  email text NOT NULL,
  -- SHA-256, in base64.
  token_hash text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT address_changes_pkey PRIMARY KEY (user_id),
  CONSTRAINT address_changes_token_hash_key UNIQUE (token_hash),
  CONSTRAINT address_changes_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);

-- The address that a member was invited by. It is shown until they join, since a person may have changed theirs, which
-- is nothing for an organization that they do not belong to.
ALTER TABLE members ADD COLUMN invited_email text;
