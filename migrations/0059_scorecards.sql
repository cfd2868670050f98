-- Monitors whose results are computed from those of others.
ALTER TABLE monitors DROP CONSTRAINT monitors_kind_check;
ALTER TABLE monitors
  ADD CONSTRAINT monitors_kind_check CHECK (kind IN ('rule', 'judge', 'external', 'scorecard'));

-- Whenever results are stored, this tells that an organization has no scorecards.
CREATE INDEX monitors_scorecards_idx ON monitors (organization_id, id)
  WHERE kind = 'scorecard' AND deleted_at IS NULL;

-- The sections and items of a scorecard, with the points that each earned. Null for other monitors.
ALTER TABLE monitor_results ADD COLUMN breakdown jsonb;
