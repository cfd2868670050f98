-- Orders of the list of conversations. Few monitors have scores, so the index of scores leaves the others out.
CREATE INDEX conversations_duration_idx ON conversations (organization_id, duration_seconds, started_at, id);
CREATE INDEX monitor_results_score_idx
  ON monitor_results (organization_id, monitor_id, score, call_started_at, conversation_id, monitor_version)
  WHERE score IS NOT NULL;

-- Conditions on customer metrics that few conversations have.
CREATE INDEX customer_metrics_key_idx ON customer_metrics (organization_id, key, conversation_id);

-- Columns and sort of a saved view; null for the default ones. Existing views stay visible to everyone.
ALTER TABLE saved_views
  ADD COLUMN columns jsonb,
  ADD COLUMN sort jsonb,
  ADD COLUMN shared boolean NOT NULL DEFAULT true;

-- Names of personal views only have to be unique for their owner.
ALTER TABLE saved_views DROP CONSTRAINT saved_views_name_key;
CREATE UNIQUE INDEX saved_views_name_key ON saved_views (organization_id, name) WHERE shared;
CREATE UNIQUE INDEX saved_views_own_name_key ON saved_views (organization_id, created_by_user_id, name)
  WHERE NOT shared;

-- The view that the list opens with, for each person.
CREATE TABLE default_views (
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  saved_view_id uuid NOT NULL,
  CONSTRAINT default_views_pkey PRIMARY KEY (organization_id, user_id),
  CONSTRAINT default_views_view_fkey FOREIGN KEY (organization_id, saved_view_id)
    REFERENCES saved_views (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT default_views_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
