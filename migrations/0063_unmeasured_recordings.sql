-- The file that was measured last, or could not be measured. Recordings with another file are still to be measured.
ALTER TABLE recordings ADD COLUMN measured_key text;

CREATE INDEX recordings_unmeasured_idx ON recordings (organization_id, conversation_id)
  WHERE status = 'stored' AND measured_key IS DISTINCT FROM blob_key;
