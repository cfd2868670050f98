-- Lists and opened conversations show the state of the recording. Beside the conversation, they read a single table, which
-- is the least that a query on a cluster can cost.
ALTER TABLE conversations
  -- The status of its row in recordings; null when there is none.
  ADD COLUMN recording_status text,
  ADD COLUMN recording_failure text;
UPDATE conversations c SET recording_status = r.status, recording_failure = r.failure FROM recordings r
WHERE r.organization_id = c.organization_id AND r.conversation_id = c.id;
ALTER TABLE conversations ADD CONSTRAINT conversations_recording_status_check
  CHECK (recording_status IN ('pending', 'stored', 'failed'));
