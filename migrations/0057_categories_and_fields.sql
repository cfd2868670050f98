-- What a result says in addition to affected or not affected. Null if the monitor names no categories or no fields.
ALTER TABLE monitor_results
  ADD COLUMN categories text[],
  ADD COLUMN fields jsonb,
  -- Fields without a value because the transcript does not contain the one that the model named.
  ADD COLUMN unsupported_fields text[];

-- In the order of lists, with the categories, so that filters and shares only read the index.
CREATE INDEX monitor_results_categories_idx
  ON monitor_results (organization_id, monitor_id, call_started_at, conversation_id, monitor_version)
  INCLUDE (categories) WHERE categories IS NOT NULL;
