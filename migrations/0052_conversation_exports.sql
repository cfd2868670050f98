-- Exports of conversations share the table and the lifecycle of exports of monitor results.
ALTER TABLE monitor_exports ADD COLUMN of_conversations boolean NOT NULL DEFAULT false;
