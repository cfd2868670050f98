-- How long the model took to respond for a result. Null for results without a request, and for those stored earlier.
ALTER TABLE monitor_results ADD COLUMN response_ms integer;
