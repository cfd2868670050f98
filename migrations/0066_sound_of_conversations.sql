-- What was measured of the recording, for filters, rules, and charts. Empty if it could not be measured, and null while it is to be
-- measured or without a recording.
ALTER TABLE conversations ADD COLUMN sound jsonb;

-- Recordings that were measured earlier are taken up again by the sweep. It does not measure them twice, but stores their measures.
UPDATE recordings SET measured_key = NULL WHERE measured_key IS NOT NULL;
