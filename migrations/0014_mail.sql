-- E-mails, one row a recipient, written with what they tell of and sent by a job.
CREATE TABLE mails (
  organization_id uuid NOT NULL,
  -- Their Message-ID is made from it.
  id uuid NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  text text NOT NULL,
  -- The text is sealed, since it opens something to whoever reads it.
  sealed boolean NOT NULL,
  -- Kept: there was no mail server to send it by.
  status text NOT NULL,
  -- Of the last attempt, as the mail server said it.
  error text,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL,
  sent_at timestamptz(3),
  CONSTRAINT mails_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT mails_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT mails_status_check CHECK (status IN ('queued', 'sent', 'failed', 'kept')),
  CONSTRAINT mails_sent_check CHECK ((sent_at IS NOT NULL) = (status = 'sent'))
);

-- For the sweep, which goes over all organizations.
CREATE INDEX mails_created_idx ON mails (created_at);
