-- Names of groups compare without case. Of those that are alike, all but the oldest get a suffix of their id.
UPDATE agent_groups g SET name = left(g.name, 248) || ' ' || right(g.id::text, 6)
WHERE EXISTS (
  SELECT FROM agent_groups o
  WHERE o.organization_id = g.organization_id AND lower(o.name) = lower(g.name) AND o.id < g.id);
ALTER TABLE agent_groups DROP CONSTRAINT agent_groups_name_key;
CREATE UNIQUE INDEX agent_groups_name_key ON agent_groups (organization_id, lower(name));

UPDATE monitor_groups g SET name = left(g.name, 248) || ' ' || right(g.id::text, 6)
WHERE EXISTS (
  SELECT FROM monitor_groups o
  WHERE o.organization_id = g.organization_id AND lower(o.name) = lower(g.name) AND o.id < g.id);
ALTER TABLE monitor_groups DROP CONSTRAINT monitor_groups_name_key;
CREATE UNIQUE INDEX monitor_groups_name_key ON monitor_groups (organization_id, lower(name));
