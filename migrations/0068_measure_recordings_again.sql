-- Recordings have more measures. Those that were measured before are measured again, in the background.
DELETE FROM recording_sounds;
UPDATE recordings SET measured_key = NULL WHERE measured_key IS NOT NULL;
