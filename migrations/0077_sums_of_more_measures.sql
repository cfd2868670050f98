-- Charts take more measures of sound. The sums of days with measured recordings are built again, and their hours are read from the
-- conversations until then.
INSERT INTO analytics_changes (organization_id, hour, id, at)
SELECT d.organization_id, d.day + make_interval(hours => h.hour), '00000000-0000-0000-0000-000000000077', now()
FROM (SELECT DISTINCT organization_id, day FROM analytics_days WHERE subject = 'sound:dropouts' AND grain = 0) d
CROSS JOIN generate_series(0, 23) AS h(hour)
ON CONFLICT DO NOTHING;
