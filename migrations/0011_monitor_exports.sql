CREATE TABLE monitor_exports (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- The client's own name for it: the same one again is the same export.
  operation_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  -- In one spelling, with its defaults.
  config jsonb NOT NULL,
  -- Of the configuration, where the erasure of a conversation looks.
  since timestamptz(3) NOT NULL,
  until timestamptz(3) NOT NULL,
  created_by_user_id uuid NOT NULL,
  notification_endpoint_id uuid,
  created_at timestamptz(3) NOT NULL,
  -- Since then it has a job. An organization has two such unfinished ones at a time; the others wait for their turn.
  enqueued_at timestamptz(3),
  -- Of the attempt that works on it, or worked last.
  started_at timestamptz(3),
  completed_at timestamptz(3),
  expires_at timestamptz(3),
  -- A conversation of its window was erased since the attempt began, which may have written it.
  is_outdated boolean NOT NULL DEFAULT false,
  row_count integer,
  bytes bigint,
  -- Of the file, in base64.
  sha256 text,
  error_code text,
  -- Where the file lies, or where the attempt that works on it puts it.
  blob_key text,
  CONSTRAINT monitor_exports_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT monitor_exports_operation_key UNIQUE (organization_id, operation_id),
  CONSTRAINT monitor_exports_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT monitor_exports_status_check
    CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'expired')),
  CONSTRAINT monitor_exports_error_check CHECK ((status = 'failed') = (error_code IS NOT NULL)),
  CONSTRAINT monitor_exports_completed_check
    CHECK (status <> 'completed' OR (completed_at, expires_at, row_count, bytes, sha256, blob_key) IS NOT NULL)
);

-- Few at any time: those under way, and those whose files are kept.
CREATE INDEX monitor_exports_unfinished_idx ON monitor_exports (organization_id, id)
  WHERE status IN ('pending', 'processing');
CREATE INDEX monitor_exports_expires_idx ON monitor_exports (organization_id, expires_at) WHERE status = 'completed';
