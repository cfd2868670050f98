-- The names that issuers of OpenID Connect have for a person, of whom one may have several: issuers change, and so do
-- the names that one issuer gives to different clients. Found without an organization, so a reference table.
CREATE TABLE identities (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT identities_pkey PRIMARY KEY (id),
  CONSTRAINT identities_subject_key UNIQUE (issuer, subject),
  CONSTRAINT identities_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);

CREATE INDEX identities_user_idx ON identities (user_id);

-- Until now an identity did not name its issuer, but the token that it was made from does. Without one, its person is
-- found by address at the next sign-in.
-- The payload is not parsed as JSON, because PostgreSQL refuses some that is valid (\u0000, lone surrogates).
INSERT INTO identities (id, user_id, issuer, subject, created_at)
SELECT id, user_id, issuer, account_id, created_at
FROM (
  SELECT
    *,
    replace(
      substring(
        convert_from(decode(rpad(payload, (length(payload) + 3) / 4 * 4, '='), 'base64'), 'LATIN1')
        FROM '"iss"\s*:\s*"((?:[^"\\]|\\/)+)"'
      ),
      '\/', '/'
    ) AS issuer
  FROM (
    SELECT *, translate(split_part(id_token, '.', 2), '-_', '+/') AS payload
    FROM accounts
    WHERE provider_id = 'oidc' AND id_token ~ '^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$'
  ) AS tokens
) AS accounts_of_issuers
WHERE issuer IS NOT NULL
ON CONFLICT DO NOTHING;

-- The tokens of an issuer are used once, at sign-in, and no longer stored. The columns stay because the sign-in library
-- reads them.
DELETE FROM accounts WHERE provider_id = 'oidc';
