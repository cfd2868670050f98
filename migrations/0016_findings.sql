ALTER TABLE findings
  -- Never one that was merged itself: when it is, this follows.
  ADD COLUMN merged_into_id uuid,
  ADD CONSTRAINT findings_merged_fkey FOREIGN KEY (organization_id, merged_into_id)
    REFERENCES findings (organization_id, id),
  ADD CONSTRAINT findings_merged_check CHECK (merged_into_id IS NULL OR (status = 'resolved' AND merged_into_id <> id));

CREATE INDEX findings_merged_idx ON findings (organization_id, merged_into_id) WHERE merged_into_id IS NOT NULL;
CREATE INDEX findings_source_idx ON findings (organization_id, source_id, id) WHERE source_id IS NOT NULL;
CREATE INDEX findings_assignee_idx ON findings (organization_id, assignee_user_id, id) WHERE assignee_user_id IS NOT NULL;

-- What became of a finding.
CREATE TABLE finding_moves (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  finding_id uuid NOT NULL,
  kind text NOT NULL,
  -- Null when the service moved it.
  by_user_id uuid,
  from_status text NOT NULL,
  to_status text NOT NULL,
  from_priority text NOT NULL,
  to_priority text NOT NULL,
  reason text,
  -- As it was then, though that one may have been merged since.
  merged_into_id uuid,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT finding_moves_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT finding_moves_finding_fkey FOREIGN KEY (organization_id, finding_id)
    REFERENCES findings (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT finding_moves_user_fkey FOREIGN KEY (by_user_id) REFERENCES users (id),
  CONSTRAINT finding_moves_kind_check CHECK (kind IN ('triage', 'merge', 'recurrence')),
  CONSTRAINT finding_moves_merge_check CHECK ((merged_into_id IS NOT NULL) = (kind = 'merge'))
);

CREATE INDEX finding_moves_finding_idx ON finding_moves (organization_id, finding_id, id);

CREATE TABLE finding_comments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  finding_id uuid NOT NULL,
  author_user_id uuid NOT NULL,
  -- A TipTap document.
  body jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  edited_at timestamptz(3),
  CONSTRAINT finding_comments_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT finding_comments_finding_fkey FOREIGN KEY (organization_id, finding_id)
    REFERENCES findings (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT finding_comments_author_fkey FOREIGN KEY (author_user_id) REFERENCES users (id)
);

CREATE INDEX finding_comments_finding_idx ON finding_comments (organization_id, finding_id, id);
