-- What a caller names its request by, beside the id that the service gave it.
ALTER TABLE audit_events ADD COLUMN caller_request_id text;
