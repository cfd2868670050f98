-- The model that embeds conversations, as `providerId/model`. Null means the built-in models.
ALTER TABLE organizations ADD COLUMN embedding_model text;

-- The numbers of models of providers. Vectors have the number of their model.
CREATE TABLE embedding_models (
  organization_id uuid NOT NULL,
  number integer NOT NULL,
  name text NOT NULL,
  CONSTRAINT embedding_models_pkey PRIMARY KEY (organization_id, number),
  CONSTRAINT embedding_models_name_key UNIQUE (organization_id, name)
);

-- The conversations that are embedded. They may have no passages.
CREATE TABLE conversation_embeddings (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- The number of the model. 1 stands for the built-in models.
  model integer NOT NULL,
  CONSTRAINT conversation_embeddings_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT conversation_embeddings_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversations (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX conversation_embeddings_model_idx ON conversation_embeddings (organization_id, model);

-- The passages of conversations, as vectors.
CREATE TABLE conversation_passages (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  -- The position among the conversation's passages, counted from 0.
  position smallint NOT NULL,
  -- The number of the model: 1 is the built-in one for English, 2 the one for other languages, and others are of providers.
  model integer NOT NULL,
  -- The cell that the vector is sorted into. 0 if it is not sorted yet.
  cell integer NOT NULL DEFAULT 0,
  -- One bit for each dimension. The nearest vectors have the most bits in common.
  code bit(512) NOT NULL,
  -- One signed byte for each dimension.
  vector bytea NOT NULL,
  first_turn integer NOT NULL,
  last_turn integer NOT NULL,
  CONSTRAINT conversation_passages_pkey PRIMARY KEY (organization_id, conversation_id, position),
  CONSTRAINT conversation_passages_conversation_fkey FOREIGN KEY (organization_id, conversation_id)
    REFERENCES conversation_embeddings (organization_id, conversation_id) ON DELETE CASCADE
);
-- Searches read only this index, and then the vectors of the best passages.
CREATE INDEX conversation_passages_cell_idx ON conversation_passages (organization_id, model, cell)
  INCLUDE (conversation_id, position, code);

-- How the vectors of a model are sorted into cells, once there are many. A new generation replaces an older one after all
-- vectors are sorted into its cells.
CREATE TABLE embedding_cells (
  organization_id uuid NOT NULL,
  model integer NOT NULL,
  generation integer NOT NULL,
  -- The centers of the cells, one signed byte for each dimension.
  centers bytea NOT NULL,
  CONSTRAINT embedding_cells_pkey PRIMARY KEY (organization_id, model, generation)
);

-- How far stored conversations are embedded, from new to old.
CREATE TABLE embedding_progress (
  organization_id uuid NOT NULL,
  model integer NOT NULL,
  -- The last conversation that was read. Null before the first one.
  started_at timestamptz(3),
  conversation_id uuid,
  is_done boolean NOT NULL DEFAULT false,
  CONSTRAINT embedding_progress_pkey PRIMARY KEY (organization_id)
);
