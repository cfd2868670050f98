-- Links that show a board to one company. The link has a token, of which only the hash is stored.
CREATE TABLE board_shares (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- The boards that every organization has are not stored.
  board_id uuid NOT NULL,
  company_id uuid NOT NULL,
  token_hash text NOT NULL,
  created_by_user_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  last_opened_at timestamptz(3),
  CONSTRAINT board_shares_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT board_shares_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT board_shares_company_fkey FOREIGN KEY (organization_id, company_id)
    REFERENCES companies (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT board_shares_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id)
);

CREATE INDEX board_shares_board_index ON board_shares (organization_id, board_id, id);
CREATE INDEX board_shares_company_index ON board_shares (organization_id, company_id);
