-- Which database this is, so that one restored from another is told from it.
CREATE TABLE instance (
  id uuid NOT NULL,
  CONSTRAINT instance_pkey PRIMARY KEY (id)
);
INSERT INTO instance VALUES (gen_random_uuid());
