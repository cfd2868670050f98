-- Recordings that came before the conversation of their call, until it comes or their time is over.
CREATE TABLE waiting_recordings (
  organization_id uuid NOT NULL,
  -- That of the conversation.
  external_id text NOT NULL,
  integration_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  blob_key text NOT NULL,
  content_type text NOT NULL,
  bytes bigint NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT waiting_recordings_pkey PRIMARY KEY (organization_id, external_id),
  CONSTRAINT waiting_recordings_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE UNIQUE INDEX waiting_recordings_blob_key_idx ON waiting_recordings (organization_id, blob_key);
