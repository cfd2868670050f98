-- The filters of the audit log, each newest first. An action is a resource and a verb.
CREATE INDEX audit_events_resource_idx ON audit_events (organization_id, split_part(action, '.', 1), id);
CREATE INDEX audit_events_user_idx ON audit_events (organization_id, (actor ->> 'userId'), id);
