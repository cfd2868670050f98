-- What a person says of a conversation.
CREATE TABLE reviews (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  reviewer_user_id uuid NOT NULL,
  status text NOT NULL,
  -- From 1 to 5.
  rating smallint,
  notes text,
  -- Until then nobody else is given the same one.
  lease_expires_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  completed_at timestamptz(3),
  CONSTRAINT reviews_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT reviews_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT reviews_reviewer_fkey FOREIGN KEY (reviewer_user_id) REFERENCES users (id),
  CONSTRAINT reviews_status_check CHECK (status IN ('pending', 'in_progress', 'completed', 'skipped')),
  CONSTRAINT reviews_rating_check CHECK (rating BETWEEN 1 AND 5),
  CONSTRAINT reviews_completed_check CHECK ((completed_at IS NOT NULL) = (status = 'completed'))
);

CREATE INDEX reviews_conversation_idx ON reviews (organization_id, conversation_id);

-- What a version of a monitor should have found there.
CREATE TABLE review_judgments (
  organization_id uuid NOT NULL,
  review_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  correct_result text NOT NULL,
  comment text,
  CONSTRAINT review_judgments_pkey PRIMARY KEY (organization_id, review_id, monitor_id, monitor_version),
  CONSTRAINT review_judgments_review_fkey FOREIGN KEY (organization_id, review_id)
    REFERENCES reviews (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT review_judgments_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version)
    REFERENCES monitor_versions (organization_id, monitor_id, number) ON DELETE CASCADE,
  CONSTRAINT review_judgments_result_check CHECK (correct_result IN ('affected', 'not_affected', 'unsure'))
);

CREATE INDEX review_judgments_monitor_idx ON review_judgments (organization_id, monitor_id, monitor_version, review_id);

CREATE TABLE findings (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  title text NOT NULL,
  -- A TipTap document.
  description jsonb,
  status text NOT NULL,
  -- When it was opened, acknowledged, resolved or ignored.
  status_changed_at timestamptz(3) NOT NULL DEFAULT now(),
  priority text NOT NULL,
  tags text[] NOT NULL,
  -- 0 by hand, 1 the spike of a monitor.
  finding_type smallint NOT NULL,
  assignee_user_id uuid,
  source_kind text NOT NULL,
  -- The monitor or experiment, which may be deleted before what it found.
  source_id uuid,
  -- Null when the service found it.
  created_by_user_id uuid,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT findings_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT findings_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT findings_assignee_fkey FOREIGN KEY (assignee_user_id) REFERENCES users (id),
  CONSTRAINT findings_creator_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id),
  CONSTRAINT findings_status_check CHECK (status IN ('open', 'acknowledged', 'resolved', 'ignored')),
  CONSTRAINT findings_priority_check CHECK (priority IN ('none', 'low', 'medium', 'high', 'urgent')),
  CONSTRAINT findings_type_check CHECK (finding_type >= 0),
  CONSTRAINT findings_source_check CHECK (source_kind IN ('manual', 'monitor', 'experiment')),
  CONSTRAINT findings_source_id_check CHECK ((source_id IS NULL) = (source_kind = 'manual'))
);

-- One at a time for each monitor.
CREATE UNIQUE INDEX findings_monitor_key ON findings (organization_id, source_id)
  WHERE source_kind = 'monitor' AND status IN ('open', 'acknowledged');

CREATE TABLE finding_conversations (
  organization_id uuid NOT NULL,
  finding_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT finding_conversations_pkey PRIMARY KEY (organization_id, finding_id, conversation_id),
  CONSTRAINT finding_conversations_finding_fkey FOREIGN KEY (organization_id, finding_id)
    REFERENCES findings (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT finding_conversations_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE
);

CREATE INDEX finding_conversations_conversation_idx ON finding_conversations (organization_id, conversation_id);

-- How far the hours of a monitor are read, and what they said. The results themselves are read once.
CREATE TABLE monitor_spike_states (
  organization_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  -- Calls that began before are counted.
  next_hour timestamptz(3) NOT NULL,
  detector jsonb NOT NULL,
  -- Of the spike that is going on.
  finding_id uuid,
  CONSTRAINT monitor_spike_states_pkey PRIMARY KEY (organization_id, monitor_id),
  CONSTRAINT monitor_spike_states_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version)
    REFERENCES monitor_versions (organization_id, monitor_id, number) ON DELETE CASCADE,
  CONSTRAINT monitor_spike_states_finding_fkey FOREIGN KEY (organization_id, finding_id)
    REFERENCES findings (organization_id, id)
);
