-- What an attempt left behind may lie in another bucket than the one that the schedule has by now.
ALTER TABLE export_schedule_runs ADD COLUMN is_moved boolean NOT NULL DEFAULT false;
