-- What an outcome measures instead of the monitor's result: a category or a field. Null for the result.
ALTER TABLE experiment_outcomes
  ADD COLUMN measure jsonb,
  -- A monitor can have several outcomes, such as one for each of its categories.
  DROP CONSTRAINT experiment_outcomes_monitor_key;
