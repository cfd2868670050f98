-- Why a version exists, if it was not simply written, and whether other definitions need a shown gain to be published.
ALTER TABLE monitor_versions ADD COLUMN note text;
ALTER TABLE monitors ADD COLUMN require_gain boolean NOT NULL DEFAULT false;

-- Comparisons of a judge with people, and the improvements that they propose.
CREATE TABLE alignments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  status text NOT NULL,
  failure text,
  -- The proposals that were requested.
  kinds text[] NOT NULL,
  -- In US dollars.
  max_cost double precision,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cost double precision NOT NULL DEFAULT 0,
  -- Whether the model answered without a known price.
  is_cost_unknown boolean NOT NULL DEFAULT false,
  -- The figures of the current version and of people, once they are known.
  report jsonb,
  -- How often in a row the model endpoint was waited for.
  waits integer NOT NULL DEFAULT 0,
  -- How often it was resumed. A job only continues the alignment if it was created for this number.
  resumes integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  CONSTRAINT alignments_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alignments_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version)
    REFERENCES monitor_versions (organization_id, monitor_id, number) ON DELETE CASCADE,
  CONSTRAINT alignments_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id),
  CONSTRAINT alignments_status_check CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  CONSTRAINT alignments_finished_check CHECK ((finished_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled')))
);

CREATE INDEX alignments_monitor_idx ON alignments (organization_id, monitor_id, id);

-- Two at once would pay twice.
CREATE UNIQUE INDEX alignments_unfinished_key ON alignments (organization_id, monitor_id)
  WHERE status IN ('queued', 'running');

-- The judged conversations of an alignment, as they were when it was created.
CREATE TABLE alignment_cases (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  half text NOT NULL,
  verdict text NOT NULL,
  -- The review that says what is correct.
  review_id uuid NOT NULL,
  -- The answers of several people.
  votes text[] NOT NULL,
  CONSTRAINT alignment_cases_pkey PRIMARY KEY (organization_id, alignment_id, conversation_id),
  CONSTRAINT alignment_cases_alignment_fkey FOREIGN KEY (organization_id, alignment_id)
    REFERENCES alignments (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alignment_cases_review_fkey FOREIGN KEY (organization_id, review_id)
    REFERENCES reviews (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alignment_cases_half_check CHECK (half IN ('tuning', 'test'))
);

CREATE INDEX alignment_cases_review_idx ON alignment_cases (organization_id, review_id);

-- The proposed definitions. A definition is null if there is nothing to propose, or if it was removed together with a
-- review.
CREATE TABLE alignment_proposals (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  kind text NOT NULL,
  definition jsonb,
  -- Why there is no definition.
  reason text,
  is_removed boolean NOT NULL DEFAULT false,
  -- What the definition changes, in words.
  changes text[] NOT NULL,
  -- The figures, once it was tested.
  measured jsonb,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cost double precision NOT NULL DEFAULT 0,
  -- The version that was published from it.
  applied_version integer,
  CONSTRAINT alignment_proposals_pkey PRIMARY KEY (organization_id, alignment_id, kind),
  CONSTRAINT alignment_proposals_alignment_fkey FOREIGN KEY (organization_id, alignment_id)
    REFERENCES alignments (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alignment_proposals_kind_check CHECK (kind IN ('threshold', 'calibration', 'examples', 'guidelines'))
);

-- The reviews whose text is part of a proposal or was sent to a model for it.
CREATE TABLE alignment_sources (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  kind text NOT NULL,
  review_id uuid NOT NULL,
  CONSTRAINT alignment_sources_pkey PRIMARY KEY (organization_id, review_id, alignment_id, kind),
  CONSTRAINT alignment_sources_proposal_fkey FOREIGN KEY (organization_id, alignment_id, kind)
    REFERENCES alignment_proposals (organization_id, alignment_id, kind) ON DELETE CASCADE,
  CONSTRAINT alignment_sources_review_fkey FOREIGN KEY (organization_id, review_id)
    REFERENCES reviews (organization_id, id) ON DELETE CASCADE
);

-- The results of the current version (`baseline`) and of the proposals that a model has to answer.
CREATE TABLE alignment_results (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  kind text NOT NULL,
  conversation_id uuid NOT NULL,
  status text NOT NULL,
  result text,
  score double precision,
  is_quoted boolean NOT NULL,
  -- The turn of the first quote.
  quoted_turn integer,
  CONSTRAINT alignment_results_pkey PRIMARY KEY (organization_id, alignment_id, kind, conversation_id),
  CONSTRAINT alignment_results_case_fkey FOREIGN KEY (organization_id, alignment_id, conversation_id)
    REFERENCES alignment_cases (organization_id, alignment_id, conversation_id) ON DELETE CASCADE,
  CONSTRAINT alignment_results_status_check CHECK (status IN ('scored', 'unscored', 'failed'))
);

CREATE INDEX alignment_results_case_idx ON alignment_results (organization_id, alignment_id, conversation_id);
