-- What people are told: incidents, assignments, mentions, exports, review requests, and accepted invitations.
CREATE TABLE notifications (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  kind text NOT NULL,
  event text NOT NULL,
  -- Identifies the event, so that nobody is told twice.
  event_key text NOT NULL,
  -- What it is about. Titles are read from there, so they disappear with it.
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  -- Null if Earshot did it.
  actor_user_id uuid,
  -- False if it is only for a digest or an email.
  in_console boolean NOT NULL,
  emailed boolean NOT NULL,
  -- The digest that will contain it. Null once it was sent.
  digest text,
  created_at timestamptz(3) NOT NULL,
  read_at timestamptz(3),
  CONSTRAINT notifications_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT notifications_event_key UNIQUE (organization_id, user_id, event_key),
  CONSTRAINT notifications_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT notifications_kind_check
    CHECK (kind IN ('incident', 'assignment', 'mention', 'export', 'review_request', 'invitation')),
  CONSTRAINT notifications_digest_check CHECK (digest IN ('daily', 'weekly'))
);

CREATE INDEX notifications_list_idx ON notifications (organization_id, user_id, id) WHERE in_console;
CREATE INDEX notifications_unread_idx ON notifications (organization_id, user_id, id)
  WHERE in_console AND read_at IS NULL;
CREATE INDEX notifications_emailed_idx ON notifications (organization_id, user_id, created_at) WHERE emailed;
CREATE INDEX notifications_digest_idx ON notifications (organization_id, user_id, id) WHERE digest IS NOT NULL;
CREATE INDEX notifications_old_idx ON notifications (organization_id, created_at);

-- Only of people who changed them.
CREATE TABLE notification_preferences (
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- For each kind, whether the console shows it, and when an email is sent.
  kinds jsonb NOT NULL,
  incidents text NOT NULL,
  summary text NOT NULL,
  digest_time text NOT NULL,
  digest_weekday text NOT NULL,
  timezone text NOT NULL,
  -- The period of the next digest. Null if nobody wants one.
  daily_since timestamptz(3),
  daily_next_at timestamptz(3),
  weekly_since timestamptz(3),
  weekly_next_at timestamptz(3),
  updated_at timestamptz(3) NOT NULL,
  CONSTRAINT notification_preferences_pkey PRIMARY KEY (organization_id, user_id),
  CONSTRAINT notification_preferences_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT notification_preferences_incidents_check CHECK (incidents IN ('owned', 'all')),
  CONSTRAINT notification_preferences_summary_check CHECK (summary IN ('off', 'daily', 'weekly')),
  CONSTRAINT notification_preferences_daily_check CHECK ((daily_since IS NULL) = (daily_next_at IS NULL)),
  CONSTRAINT notification_preferences_weekly_check CHECK ((weekly_since IS NULL) = (weekly_next_at IS NULL))
);

CREATE INDEX notification_preferences_daily_idx ON notification_preferences (daily_next_at);
CREATE INDEX notification_preferences_weekly_idx ON notification_preferences (weekly_next_at);

-- Who is told when the person joins.
ALTER TABLE invitations ADD COLUMN invited_by_user_id uuid;

-- The formatted version of the text.
ALTER TABLE mails ADD COLUMN html text;
