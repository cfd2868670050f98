-- The newest build of an organization's topics. The vectors of each model are compared by themselves.
CREATE TABLE topic_builds (
  organization_id uuid NOT NULL,
  -- The number of the model whose vectors were compared.
  model integer NOT NULL,
  -- All models of an organization have the same number. It grows with each build.
  number integer NOT NULL,
  -- The mean of the sampled vectors, as floats. It is subtracted from vectors before they are compared with centers.
  mean bytea NOT NULL,
  built_at timestamptz(3) NOT NULL,
  CONSTRAINT topic_builds_pkey PRIMARY KEY (organization_id, model)
);

CREATE TABLE topics (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- The group that the topic belongs to. Groups are rows of this table, too.
  group_id uuid,
  is_group boolean NOT NULL,
  -- The terms that are frequent in the topic and rare in others.
  terms text[] NOT NULL,
  -- The name that a person chose. Null: the terms are the name.
  label text,
  hidden boolean NOT NULL DEFAULT false,
  -- The number of the model. Null for groups.
  model integer,
  -- The unit vector in the middle of the topic, as floats, and the similarity from which vectors belong to it. Null for groups.
  center bytea,
  bound double precision,
  created_at timestamptz(3) NOT NULL,
  -- When a build no longer found the topic.
  ended_at timestamptz(3),
  -- The topic that contains most of the ended topic's conversations.
  merged_into_id uuid,
  CONSTRAINT topics_pkey PRIMARY KEY (organization_id, id)
);

-- What builds have changed about topics.
CREATE TABLE topic_changes (
  organization_id uuid NOT NULL,
  topic_id uuid NOT NULL,
  build integer NOT NULL,
  kind text NOT NULL,
  -- The topics that it was split into, or merged with.
  topic_ids uuid[] NOT NULL,
  at timestamptz(3) NOT NULL,
  CONSTRAINT topic_changes_pkey PRIMARY KEY (organization_id, topic_id, build, kind),
  CONSTRAINT topic_changes_topic_fkey FOREIGN KEY (organization_id, topic_id)
    REFERENCES topics (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT topic_changes_kind_check CHECK (kind IN ('created', 'split', 'merged', 'ended'))
);

-- The topic of each embedded conversation with words.
CREATE TABLE conversation_topics (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- Null: the conversation is an outlier. Topics that ended can remain until the next build is assigned.
  topic_id uuid,
  -- The similarity to the topic's center. Null for outliers.
  similarity double precision,
  build integer NOT NULL,
  -- The start of the conversation, which never changes.
  started_at timestamptz(3) NOT NULL,
  CONSTRAINT conversation_topics_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT conversation_topics_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversation_embeddings (organization_id, conversation_id) ON DELETE CASCADE
);
CREATE INDEX conversation_topics_started_idx ON conversation_topics (organization_id, started_at) INCLUDE (topic_id);
CREATE INDEX conversation_topics_topic_idx
  ON conversation_topics (organization_id, topic_id, similarity DESC, conversation_id);
