-- Labels that people put on conversations, in lower case.
CREATE TABLE conversation_tags (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- Compared byte by byte, so that a prefix is a range of the index.
  tag text COLLATE "C" NOT NULL,
  CONSTRAINT conversation_tags_pkey PRIMARY KEY (organization_id, conversation_id, tag),
  CONSTRAINT conversation_tags_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE
);

CREATE INDEX conversation_tags_tag_idx ON conversation_tags (organization_id, tag, conversation_id);

-- One action on many conversations. It goes through them in slices and stores its position with each slice, so that
-- another worker continues where the last one stopped.
CREATE TABLE bulk_actions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  action jsonb NOT NULL,
  -- The filter that selected the conversations. Null if they were listed.
  filter jsonb,
  -- The action that this one undoes.
  undoes_id uuid,
  undone_by_id uuid,
  status text NOT NULL,
  failure text,
  total integer NOT NULL,
  done integer NOT NULL DEFAULT 0,
  -- How many of those done were different before.
  changed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  -- The position of the last conversation that is counted.
  after_position integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_by_key_id uuid,
  created_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  CONSTRAINT bulk_actions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT bulk_actions_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT bulk_actions_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id),
  CONSTRAINT bulk_actions_status_check CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  CONSTRAINT bulk_actions_finished_check CHECK ((finished_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled')))
);

CREATE INDEX bulk_actions_unfinished_idx ON bulk_actions (organization_id) WHERE status IN ('queued', 'running');
CREATE INDEX bulk_actions_finished_idx ON bulk_actions (organization_id, finished_at);

-- The conversations that were selected when the action was created, and what it changed. There is no foreign key, because
-- it would lock the conversations in another order than everything else does. Erasing a conversation deletes its rows.
CREATE TABLE bulk_action_conversations (
  organization_id uuid NOT NULL,
  action_id uuid NOT NULL,
  position integer NOT NULL,
  conversation_id uuid NOT NULL,
  -- Null until it was processed.
  outcome text,
  -- The tags that were added or removed.
  tags text[],
  CONSTRAINT bulk_action_conversations_pkey PRIMARY KEY (organization_id, action_id, position),
  CONSTRAINT bulk_action_conversations_action_fkey FOREIGN KEY (organization_id, action_id)
    REFERENCES bulk_actions (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT bulk_action_conversations_outcome_check CHECK (outcome IN ('changed', 'unchanged', 'failed'))
);

CREATE INDEX bulk_action_conversations_conversation_idx ON bulk_action_conversations (organization_id, conversation_id);
