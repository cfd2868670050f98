-- Exports of what an experiment observed live as those of monitors do: in one line, kept as long, ended alike. Of
-- monitors are those without an experiment; neither kind is ever shown as the other.
ALTER TABLE monitor_exports
  ADD COLUMN experiment_id uuid,
  ADD CONSTRAINT monitor_exports_experiment_fkey FOREIGN KEY (organization_id, experiment_id)
    REFERENCES experiments (organization_id, id) ON DELETE CASCADE;

CREATE INDEX monitor_exports_experiment_idx ON monitor_exports (organization_id, experiment_id, id)
  WHERE experiment_id IS NOT NULL;
