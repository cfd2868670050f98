-- Searches that compare all passages of many conversations only read this index.
ALTER TABLE conversation_passages DROP CONSTRAINT conversation_passages_pkey;
ALTER TABLE conversation_passages
  ADD CONSTRAINT conversation_passages_pkey PRIMARY KEY (organization_id, conversation_id, position)
    INCLUDE (model, code);
