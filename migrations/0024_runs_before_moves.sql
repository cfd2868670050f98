-- Runs that were being delivered before moves were noted: whatever was changed of their schedules may have been the bucket.
UPDATE export_schedule_runs r SET is_moved = true FROM export_schedules s
WHERE s.organization_id = r.organization_id AND s.id = r.schedule_id
  AND r.status = 'delivering' AND s.updated_at >= r.created_at;
