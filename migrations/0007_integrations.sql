-- Found by id alone, since a provider's call names no tenant: a reference table when distributed.
CREATE TABLE integrations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  provider text NOT NULL,
  name text NOT NULL,
  -- Sealed. The one before it still counts until its time is over.
  secret text NOT NULL,
  previous_secret text,
  previous_secret_until timestamptz(3),
  settings jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT integrations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integrations_id_key UNIQUE (id),
  CONSTRAINT integrations_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

-- Each call of a provider that was verified. Those of a deleted integration go by a job: they may be very many.
CREATE TABLE integration_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  status text NOT NULL,
  -- The provider's own name for what happened, where it gives one.
  event text,
  -- Why it was not applied, in words for its reader.
  reason text,
  -- The conversation that it told of, whether or not it was applied.
  conversation_id uuid,
  bytes integer NOT NULL,
  content_type text,
  -- Sealed; null once it is not needed any more.
  payload text,
  received_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT integration_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integration_deliveries_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT integration_deliveries_status_check
    CHECK (status IN ('pending', 'applied', 'unchanged', 'ignored', 'unreadable', 'rejected', 'erased', 'failed'))
);

CREATE INDEX integration_deliveries_list_idx ON integration_deliveries (organization_id, integration_id, id);
CREATE INDEX integration_deliveries_status_idx ON integration_deliveries (organization_id, integration_id, status, id);
CREATE INDEX integration_deliveries_conversation_idx ON integration_deliveries (organization_id, conversation_id)
  WHERE conversation_id IS NOT NULL;
-- For erasure, which looks into payloads that nobody could tell the conversation of.
CREATE INDEX integration_deliveries_untold_idx ON integration_deliveries (organization_id, id)
  WHERE conversation_id IS NULL AND payload IS NOT NULL;
-- For the sweeps, which go over all organizations.
CREATE INDEX integration_deliveries_received_idx ON integration_deliveries (received_at);
CREATE INDEX integration_deliveries_payload_idx ON integration_deliveries (received_at) WHERE payload IS NOT NULL;

-- Spans of conversations that may still grow; they go once nothing more is to be expected.
CREATE TABLE otel_spans (
  organization_id uuid NOT NULL,
  trace_id text NOT NULL,
  span_id text NOT NULL,
  -- The conversation's own id, where this span names it. It then counts for all spans of the trace that name none.
  conversation_key text,
  -- JSON of the span, with the resource and the scope that it came from.
  span text NOT NULL,
  received_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT otel_spans_pkey PRIMARY KEY (organization_id, trace_id, span_id),
  CONSTRAINT otel_spans_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE INDEX otel_spans_conversation_idx ON otel_spans (organization_id, conversation_key, received_at)
  WHERE conversation_key IS NOT NULL;
CREATE INDEX otel_spans_received_idx ON otel_spans (received_at);
