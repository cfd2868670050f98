-- Filters by fields only read these indexes. The first one is in the order of lists, with the fields, so results that
-- don't match are not read. An entry of an index must fit into a third of a page, so it omits long fields.
-- The planner has no statistics about these conditions. It expects that < 1 selects many rows, and = 1 only a few.
CREATE INDEX monitor_results_fields_idx
  ON monitor_results (organization_id, monitor_id, call_started_at, conversation_id, monitor_version)
  INCLUDE (fields, unsupported_fields)
  WHERE (octet_length(fields::text) > 800 OR coalesce(cardinality(unsupported_fields), 0) > 10)::integer < 1;

-- The results whose fields are long. They are read one by one.
CREATE INDEX monitor_results_long_fields_idx
  ON monitor_results (organization_id, monitor_id, call_started_at, conversation_id, monitor_version)
  WHERE (octet_length(fields::text) > 800 OR coalesce(cardinality(unsupported_fields), 0) > 10)::integer = 1;
