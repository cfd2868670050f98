-- Written by npm run generate from migrations/. Do not edit.

CREATE EXTENSION btree_gin;

CREATE TABLE accounts (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  provider_id text NOT NULL,
  account_id text NOT NULL,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp(3) with time zone,
  refresh_token_expires_at timestamp(3) with time zone,
  scope text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_provider_key UNIQUE (provider_id, account_id),
  CONSTRAINT accounts_user_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX accounts_user_idx ON public.accounts USING btree (user_id);

CREATE TABLE address_changes (
  user_id uuid NOT NULL,
  email text NOT NULL,
  token_hash text NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT address_changes_pkey PRIMARY KEY (user_id),
  CONSTRAINT address_changes_token_hash_key UNIQUE (token_hash),
  CONSTRAINT address_changes_user_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

CREATE TABLE agent_group_members (
  organization_id uuid NOT NULL,
  group_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  CONSTRAINT agent_group_members_pkey PRIMARY KEY (organization_id, group_id, agent_id),
  CONSTRAINT agent_group_members_agent_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT agent_group_members_group_fkey FOREIGN KEY (organization_id, group_id) REFERENCES agent_groups(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_group_members_agent_idx ON public.agent_group_members USING btree (organization_id, agent_id);

CREATE TABLE agent_groups (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT agent_groups_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT agent_groups_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE UNIQUE INDEX agent_groups_name_key ON public.agent_groups USING btree (organization_id, lower(name));

CREATE TABLE agent_versions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  agent_id uuid NOT NULL,
  number integer NOT NULL,
  label text,
  system_prompt text NOT NULL,
  config jsonb NOT NULL,
  content_hash text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT agent_versions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT agent_versions_content_key UNIQUE (organization_id, agent_id, content_hash),
  CONSTRAINT agent_versions_label_key UNIQUE (organization_id, agent_id, label),
  CONSTRAINT agent_versions_number_key UNIQUE (organization_id, agent_id, number),
  CONSTRAINT agent_versions_agent_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id)
);

CREATE TABLE agents (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  name text NOT NULL,
  channel text NOT NULL,
  company_id uuid,
  current_version_id uuid,
  archived_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  transcription_model text,
  agent_channel smallint,
  recordings_keep text NOT NULL DEFAULT 'all'::text,
  recordings_days integer,
  sound_redaction text,
  CONSTRAINT agents_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT agents_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT agents_company_fkey FOREIGN KEY (organization_id, company_id) REFERENCES companies(organization_id, id),
  CONSTRAINT agents_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT agents_agent_channel_check CHECK ((agent_channel = ANY (ARRAY[0, 1]))),
  CONSTRAINT agents_channel_check CHECK ((channel = ANY (ARRAY['voice'::text, 'text'::text]))),
  CONSTRAINT agents_recordings_days_check CHECK (((recordings_keep = 'days'::text) = (recordings_days IS NOT NULL))),
  CONSTRAINT agents_recordings_keep_check CHECK ((recordings_keep = ANY (ARRAY['all'::text, 'days'::text, 'transcript_only'::text, 'nothing'::text]))),
  CONSTRAINT agents_sound_redaction_check CHECK ((sound_redaction = ANY (ARRAY['none'::text, 'mute'::text, 'beep'::text])))
);
CREATE INDEX agents_company_idx ON public.agents USING btree (organization_id, company_id);

CREATE TABLE alert_incident_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  incident_id uuid NOT NULL,
  kind text NOT NULL,
  user_id uuid,
  body jsonb,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT alert_incident_events_pkey PRIMARY KEY (organization_id, incident_id, id),
  CONSTRAINT alert_incident_events_incident_fkey FOREIGN KEY (organization_id, incident_id) REFERENCES alert_incidents(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alert_incident_events_body_check CHECK (((body IS NOT NULL) = (kind = 'commented'::text))),
  CONSTRAINT alert_incident_events_kind_check CHECK ((kind = ANY (ARRAY['opened'::text, 'repeated'::text, 'acknowledged'::text, 'resolved'::text, 'commented'::text])))
);

CREATE TABLE alert_incidents (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  alert_rule_id uuid NOT NULL,
  rule_name text NOT NULL,
  severity text NOT NULL,
  status text NOT NULL,
  group_key text NOT NULL,
  group_label text,
  reading jsonb NOT NULL,
  conversation_ids uuid[] NOT NULL,
  opened_at timestamp(3) with time zone NOT NULL,
  acknowledged_at timestamp(3) with time zone,
  acknowledged_by_user_id uuid,
  resolved_at timestamp(3) with time zone,
  resolved_by_user_id uuid,
  clear_since timestamp(3) with time zone,
  notified_at timestamp(3) with time zone,
  owner_user_id uuid,
  routed_destination_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  CONSTRAINT alert_incidents_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alert_incidents_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT alert_incidents_resolved_check CHECK (((resolved_at IS NOT NULL) = (status = 'resolved'::text))),
  CONSTRAINT alert_incidents_status_check CHECK ((status = ANY (ARRAY['firing'::text, 'acknowledged'::text, 'resolved'::text])))
);
CREATE INDEX alert_incidents_conversations_idx ON public.alert_incidents USING gin (conversation_ids);
CREATE UNIQUE INDEX alert_incidents_open_key ON public.alert_incidents USING btree (organization_id, alert_rule_id, group_key) WHERE (status <> 'resolved'::text);
CREATE INDEX alert_incidents_opened_idx ON public.alert_incidents USING btree (organization_id, opened_at);
CREATE INDEX alert_incidents_rule_idx ON public.alert_incidents USING btree (organization_id, alert_rule_id, id);

CREATE TABLE alert_rules (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  severity text NOT NULL,
  condition jsonb NOT NULL,
  filter jsonb,
  group_by text,
  window_minutes integer NOT NULL,
  minimum_sample integer NOT NULL,
  destination_ids uuid[] NOT NULL,
  owner_user_id uuid,
  repeat_every_minutes integer,
  runbook_url text,
  muted_until timestamp(3) with time zone,
  next_check_at timestamp(3) with time zone NOT NULL,
  checked_until timestamp(3) with time zone,
  created_by_user_id uuid,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT alert_rules_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alert_rules_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT alert_rules_group_check CHECK ((group_by = ANY (ARRAY['agent'::text, 'company'::text, 'version'::text]))),
  CONSTRAINT alert_rules_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text])))
);
CREATE INDEX alert_rules_due_idx ON public.alert_rules USING btree (next_check_at) WHERE enabled;

CREATE TABLE alignment_cases (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  half text NOT NULL,
  verdict text NOT NULL,
  review_id uuid NOT NULL,
  votes text[] NOT NULL,
  CONSTRAINT alignment_cases_pkey PRIMARY KEY (organization_id, alignment_id, conversation_id),
  CONSTRAINT alignment_cases_alignment_fkey FOREIGN KEY (organization_id, alignment_id) REFERENCES alignments(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alignment_cases_review_fkey FOREIGN KEY (organization_id, review_id) REFERENCES reviews(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alignment_cases_half_check CHECK ((half = ANY (ARRAY['tuning'::text, 'test'::text])))
);
CREATE INDEX alignment_cases_review_idx ON public.alignment_cases USING btree (organization_id, review_id);

CREATE TABLE alignment_proposals (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  kind text NOT NULL,
  definition jsonb,
  reason text,
  is_removed boolean NOT NULL DEFAULT false,
  changes text[] NOT NULL,
  measured jsonb,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cost double precision NOT NULL DEFAULT 0,
  applied_version integer,
  CONSTRAINT alignment_proposals_pkey PRIMARY KEY (organization_id, alignment_id, kind),
  CONSTRAINT alignment_proposals_alignment_fkey FOREIGN KEY (organization_id, alignment_id) REFERENCES alignments(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT alignment_proposals_kind_check CHECK ((kind = ANY (ARRAY['threshold'::text, 'calibration'::text, 'examples'::text, 'guidelines'::text])))
);

CREATE TABLE alignment_results (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  kind text NOT NULL,
  conversation_id uuid NOT NULL,
  status text NOT NULL,
  result text,
  score double precision,
  is_quoted boolean NOT NULL,
  quoted_turn integer,
  CONSTRAINT alignment_results_pkey PRIMARY KEY (organization_id, alignment_id, kind, conversation_id),
  CONSTRAINT alignment_results_case_fkey FOREIGN KEY (organization_id, alignment_id, conversation_id) REFERENCES alignment_cases(organization_id, alignment_id, conversation_id) ON DELETE CASCADE,
  CONSTRAINT alignment_results_status_check CHECK ((status = ANY (ARRAY['scored'::text, 'unscored'::text, 'failed'::text])))
);
CREATE INDEX alignment_results_case_idx ON public.alignment_results USING btree (organization_id, alignment_id, conversation_id);

CREATE TABLE alignment_sources (
  organization_id uuid NOT NULL,
  alignment_id uuid NOT NULL,
  kind text NOT NULL,
  review_id uuid NOT NULL,
  CONSTRAINT alignment_sources_pkey PRIMARY KEY (organization_id, review_id, alignment_id, kind),
  CONSTRAINT alignment_sources_proposal_fkey FOREIGN KEY (organization_id, alignment_id, kind) REFERENCES alignment_proposals(organization_id, alignment_id, kind) ON DELETE CASCADE,
  CONSTRAINT alignment_sources_review_fkey FOREIGN KEY (organization_id, review_id) REFERENCES reviews(organization_id, id) ON DELETE CASCADE
);

CREATE TABLE alignments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  status text NOT NULL,
  failure text,
  kinds text[] NOT NULL,
  max_cost double precision,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cost double precision NOT NULL DEFAULT 0,
  is_cost_unknown boolean NOT NULL DEFAULT false,
  report jsonb,
  waits integer NOT NULL DEFAULT 0,
  resumes integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  CONSTRAINT alignments_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alignments_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  CONSTRAINT alignments_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version) REFERENCES monitor_versions(organization_id, monitor_id, number) ON DELETE CASCADE,
  CONSTRAINT alignments_finished_check CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))),
  CONSTRAINT alignments_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX alignments_monitor_idx ON public.alignments USING btree (organization_id, monitor_id, id);
CREATE UNIQUE INDEX alignments_unfinished_key ON public.alignments USING btree (organization_id, monitor_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE TABLE analytics_changes (
  organization_id uuid NOT NULL,
  hour timestamp(3) with time zone NOT NULL,
  id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  only_results boolean NOT NULL DEFAULT false,
  CONSTRAINT analytics_changes_pkey PRIMARY KEY (organization_id, hour, id)
);

CREATE TABLE analytics_days (
  organization_id uuid NOT NULL,
  subject text NOT NULL,
  grain smallint NOT NULL,
  day timestamp(3) with time zone NOT NULL,
  hours bytea NOT NULL,
  hour_steps bytea,
  day_steps bytea,
  CONSTRAINT analytics_days_pkey PRIMARY KEY (organization_id, subject, grain, day)
);
CREATE INDEX analytics_days_day_idx ON public.analytics_days USING btree (organization_id, day);

CREATE TABLE analytics_groups (
  organization_id uuid NOT NULL,
  grain smallint NOT NULL,
  number integer NOT NULL,
  agent_id uuid,
  agent_version_id uuid,
  company_id uuid,
  channel text,
  direction text,
  CONSTRAINT analytics_groups_pkey PRIMARY KEY (organization_id, grain, number),
  CONSTRAINT analytics_groups_columns_key UNIQUE NULLS NOT DISTINCT (organization_id, grain, agent_id, agent_version_id, company_id, channel, direction)
);

CREATE TABLE analytics_progress (
  organization_id uuid NOT NULL,
  built_since timestamp(3) with time zone,
  builds bigint NOT NULL,
  checked_until timestamp(3) with time zone,
  checked_at timestamp(3) with time zone,
  checked_days integer NOT NULL DEFAULT 0,
  differing_days integer NOT NULL DEFAULT 0,
  differed_at timestamp(3) with time zone,
  CONSTRAINT analytics_progress_pkey PRIMARY KEY (organization_id),
  CONSTRAINT analytics_progress_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE api_key_uses (
  organization_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  last_used_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (organization_id, api_key_id),
  CONSTRAINT api_key_uses_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE api_keys (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  hash text NOT NULL,
  prefix text NOT NULL,
  name text NOT NULL,
  role role NOT NULL,
  created_by_user_id uuid NOT NULL,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT api_keys_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT api_keys_hash_key UNIQUE (hash),
  CONSTRAINT api_keys_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT api_keys_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id)
);

CREATE TABLE audit_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  action text NOT NULL,
  actor jsonb NOT NULL,
  targets jsonb NOT NULL,
  request_id text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  caller_request_id text,
  reason text,
  CONSTRAINT audit_events_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT audit_events_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX audit_events_resource_idx ON public.audit_events USING btree (organization_id, split_part(action, '.'::text, 1), id);
CREATE INDEX audit_events_user_idx ON public.audit_events USING btree (organization_id, ((actor ->> 'userId'::text)), id);

CREATE TABLE board_shares (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  board_id uuid NOT NULL,
  company_id uuid NOT NULL,
  token_hash text NOT NULL,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  last_opened_at timestamp(3) with time zone,
  CONSTRAINT board_shares_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT board_shares_company_fkey FOREIGN KEY (organization_id, company_id) REFERENCES companies(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT board_shares_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT board_shares_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id)
);
CREATE INDEX board_shares_board_index ON public.board_shares USING btree (organization_id, board_id, id);
CREATE INDEX board_shares_company_index ON public.board_shares USING btree (organization_id, company_id);

CREATE TABLE boards (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  filter jsonb NOT NULL,
  compare_to text,
  charts jsonb NOT NULL,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT boards_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT boards_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT boards_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id)
);

CREATE TABLE bucket_conversations (
  organization_id uuid NOT NULL,
  bucket_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'waiting'::text,
  reviews_wanted smallint NOT NULL,
  reviews_completed smallint NOT NULL DEFAULT 0,
  reviewer_user_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  free_at timestamp(3) with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  added_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT bucket_conversations_pkey PRIMARY KEY (organization_id, bucket_id, conversation_id),
  CONSTRAINT bucket_conversations_bucket_fkey FOREIGN KEY (organization_id, bucket_id) REFERENCES buckets(organization_id, id),
  CONSTRAINT bucket_conversations_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT bucket_conversations_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'adjudication'::text, 'completed'::text])))
);
CREATE INDEX bucket_conversations_added_idx ON public.bucket_conversations USING btree (organization_id, bucket_id, added_at, conversation_id);
CREATE INDEX bucket_conversations_conversation_idx ON public.bucket_conversations USING btree (organization_id, conversation_id);
CREATE INDEX bucket_conversations_waiting_idx ON public.bucket_conversations USING btree (organization_id, bucket_id, added_at, conversation_id) WHERE (status = 'waiting'::text);

CREATE TABLE buckets (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  agent_id uuid,
  name text NOT NULL,
  type text NOT NULL,
  filters jsonb NOT NULL,
  share double precision,
  per_week integer,
  reviewer_user_ids uuid[] NOT NULL,
  reviews_per_conversation smallint NOT NULL,
  monitor_ids uuid[] NOT NULL,
  blind boolean NOT NULL,
  note_on_disagreement boolean NOT NULL,
  follows_since timestamp(3) with time zone NOT NULL DEFAULT now(),
  drawn_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT buckets_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT buckets_name_key UNIQUE (organization_id, name),
  CONSTRAINT buckets_agent_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id),
  CONSTRAINT buckets_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT buckets_drawn_check CHECK (((drawn_until IS NOT NULL) = (per_week IS NOT NULL))),
  CONSTRAINT buckets_per_week_check CHECK ((per_week > 0)),
  CONSTRAINT buckets_reviews_check CHECK (((reviews_per_conversation >= 1) AND (reviews_per_conversation <= 5))),
  CONSTRAINT buckets_sample_check CHECK ((num_nonnulls(share, per_week) =
CASE type
    WHEN 'sampled'::text THEN 1
    ELSE 0
END)),
  CONSTRAINT buckets_share_check CHECK (((share > (0)::double precision) AND (share <= (100)::double precision))),
  CONSTRAINT buckets_type_check CHECK ((type = ANY (ARRAY['static'::text, 'dynamic'::text, 'sampled'::text])))
);
CREATE INDEX buckets_agent_idx ON public.buckets USING btree (organization_id, agent_id) WHERE (agent_id IS NOT NULL);

CREATE TABLE bulk_action_conversations (
  organization_id uuid NOT NULL,
  action_id uuid NOT NULL,
  "position" integer NOT NULL,
  conversation_id uuid NOT NULL,
  outcome text,
  tags text[],
  CONSTRAINT bulk_action_conversations_pkey PRIMARY KEY (organization_id, action_id, "position"),
  CONSTRAINT bulk_action_conversations_action_fkey FOREIGN KEY (organization_id, action_id) REFERENCES bulk_actions(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT bulk_action_conversations_outcome_check CHECK ((outcome = ANY (ARRAY['changed'::text, 'unchanged'::text, 'failed'::text])))
);
CREATE INDEX bulk_action_conversations_conversation_idx ON public.bulk_action_conversations USING btree (organization_id, conversation_id);

CREATE TABLE bulk_actions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  action jsonb NOT NULL,
  filter jsonb,
  undoes_id uuid,
  undone_by_id uuid,
  status text NOT NULL,
  failure text,
  total integer NOT NULL,
  done integer NOT NULL DEFAULT 0,
  changed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  after_position integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_by_key_id uuid,
  created_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  CONSTRAINT bulk_actions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT bulk_actions_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT bulk_actions_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  CONSTRAINT bulk_actions_finished_check CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))),
  CONSTRAINT bulk_actions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX bulk_actions_finished_idx ON public.bulk_actions USING btree (organization_id, finished_at);
CREATE INDEX bulk_actions_unfinished_idx ON public.bulk_actions USING btree (organization_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE TABLE companies (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  logo_url text,
  logo_key text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT companies_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT companies_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE conversation_embeddings (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  model integer NOT NULL,
  CONSTRAINT conversation_embeddings_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT conversation_embeddings_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX conversation_embeddings_model_idx ON public.conversation_embeddings USING btree (organization_id, model);

CREATE TABLE conversation_passages (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  "position" smallint NOT NULL,
  model integer NOT NULL,
  cell integer NOT NULL DEFAULT 0,
  code bit(512) NOT NULL,
  vector bytea NOT NULL,
  first_turn integer NOT NULL,
  last_turn integer NOT NULL,
  CONSTRAINT conversation_passages_pkey PRIMARY KEY (organization_id, conversation_id, "position") INCLUDE (model, code),
  CONSTRAINT conversation_passages_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversation_embeddings(organization_id, conversation_id) ON DELETE CASCADE
);
CREATE INDEX conversation_passages_cell_idx ON public.conversation_passages USING btree (organization_id, model, cell) INCLUDE (conversation_id, "position", code);

CREATE TABLE conversation_regions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  channel smallint,
  start_ms integer NOT NULL,
  end_ms integer NOT NULL,
  note text NOT NULL,
  author_user_id uuid NOT NULL,
  finding_id uuid,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT conversation_regions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT conversation_regions_author_fkey FOREIGN KEY (author_user_id) REFERENCES users(id),
  CONSTRAINT conversation_regions_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT conversation_regions_channel_check CHECK ((channel = ANY (ARRAY[0, 1]))),
  CONSTRAINT conversation_regions_span_check CHECK (((0 <= start_ms) AND (start_ms < end_ms)))
);
CREATE INDEX conversation_regions_conversation_idx ON public.conversation_regions USING btree (organization_id, conversation_id, id);
CREATE INDEX conversation_regions_finding_idx ON public.conversation_regions USING btree (organization_id, finding_id, id) WHERE (finding_id IS NOT NULL);

CREATE TABLE conversation_tags (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  tag text COLLATE "C" NOT NULL,
  CONSTRAINT conversation_tags_pkey PRIMARY KEY (organization_id, conversation_id, tag),
  CONSTRAINT conversation_tags_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX conversation_tags_tag_idx ON public.conversation_tags USING btree (organization_id, tag, conversation_id);

CREATE TABLE conversation_tombstones (
  organization_id uuid NOT NULL,
  hash text NOT NULL,
  erased_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT conversation_tombstones_pkey PRIMARY KEY (organization_id, hash),
  CONSTRAINT conversation_tombstones_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE conversation_topics (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  topic_id uuid,
  similarity double precision,
  build integer NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT conversation_topics_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT conversation_topics_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversation_embeddings(organization_id, conversation_id) ON DELETE CASCADE
);
CREATE INDEX conversation_topics_started_idx ON public.conversation_topics USING btree (organization_id, started_at) INCLUDE (topic_id);
CREATE INDEX conversation_topics_topic_idx ON public.conversation_topics USING btree (organization_id, topic_id, similarity DESC, conversation_id);

CREATE TABLE conversations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  agent_id uuid NOT NULL,
  agent_version_id uuid,
  company_id uuid,
  channel text NOT NULL,
  direction text,
  status text NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  ended_at timestamp(3) with time zone,
  duration_seconds integer,
  end_reason text,
  customer_id text,
  metadata jsonb NOT NULL,
  signals jsonb NOT NULL,
  review_status text NOT NULL DEFAULT 'none'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  recording_status text,
  recording_failure text,
  sound jsonb,
  CONSTRAINT conversations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT conversations_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT conversations_agent_fkey FOREIGN KEY (organization_id, agent_id) REFERENCES agents(organization_id, id),
  CONSTRAINT conversations_agent_version_fkey FOREIGN KEY (organization_id, agent_version_id) REFERENCES agent_versions(organization_id, id),
  CONSTRAINT conversations_company_fkey FOREIGN KEY (organization_id, company_id) REFERENCES companies(organization_id, id),
  CONSTRAINT conversations_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT conversations_channel_check CHECK ((channel = ANY (ARRAY['call'::text, 'chat'::text, 'voicemail'::text]))),
  CONSTRAINT conversations_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
  CONSTRAINT conversations_recording_status_check CHECK ((recording_status = ANY (ARRAY['pending'::text, 'processing'::text, 'stored'::text, 'failed'::text, 'deleted'::text]))),
  CONSTRAINT conversations_review_status_check CHECK ((review_status = ANY (ARRAY['none'::text, 'pending'::text, 'in_progress'::text, 'completed'::text]))),
  CONSTRAINT conversations_status_check CHECK ((status = ANY (ARRAY['in_progress'::text, 'completed'::text, 'failed'::text])))
) WITH (autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX conversations_agent_idx ON public.conversations USING btree (organization_id, agent_id, started_at, id);
CREATE INDEX conversations_company_idx ON public.conversations USING btree (organization_id, company_id, started_at, id);
CREATE INDEX conversations_customer_idx ON public.conversations USING btree (organization_id, customer_id, started_at, id) WHERE (customer_id IS NOT NULL);
CREATE INDEX conversations_duration_idx ON public.conversations USING btree (organization_id, duration_seconds, started_at, id);
CREATE INDEX conversations_metadata_idx ON public.conversations USING gin (organization_id, metadata jsonb_path_ops);
CREATE INDEX conversations_review_idx ON public.conversations USING btree (organization_id, review_status, started_at, id) WHERE (review_status <> 'none'::text);
CREATE INDEX conversations_status_idx ON public.conversations USING btree (organization_id, status, started_at, id) WHERE (status <> 'completed'::text);
CREATE INDEX conversations_time_idx ON public.conversations USING btree (organization_id, started_at, id) INCLUDE (channel, direction, duration_seconds, agent_id, agent_version_id, company_id);
CREATE INDEX conversations_version_idx ON public.conversations USING btree (organization_id, agent_version_id, started_at, id);

CREATE TABLE customer_metrics (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  key text NOT NULL,
  value jsonb NOT NULL,
  comment text,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT customer_metrics_pkey PRIMARY KEY (organization_id, conversation_id, key),
  CONSTRAINT customer_metrics_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX customer_metrics_key_idx ON public.customer_metrics USING btree (organization_id, key, conversation_id);

CREATE TABLE database_sizes (
  day date NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT database_sizes_pkey PRIMARY KEY (day)
);

CREATE TABLE default_views (
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  saved_view_id uuid NOT NULL,
  CONSTRAINT default_views_pkey PRIMARY KEY (organization_id, user_id),
  CONSTRAINT default_views_user_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT default_views_view_fkey FOREIGN KEY (organization_id, saved_view_id) REFERENCES saved_views(organization_id, id) ON DELETE CASCADE
);

CREATE TABLE destination_attempts (
  organization_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  attempted_at timestamp(3) with time zone NOT NULL,
  duration_ms integer NOT NULL,
  status_code smallint,
  error text,
  answer text,
  CONSTRAINT destination_attempts_pkey PRIMARY KEY (organization_id, delivery_id, number),
  CONSTRAINT destination_attempts_delivery_fkey FOREIGN KEY (organization_id, delivery_id) REFERENCES destination_deliveries(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT destination_attempts_outcome_check CHECK (((status_code IS NULL) = (error IS NOT NULL)))
);

CREATE TABLE destination_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  destination_id uuid NOT NULL,
  kind text NOT NULL,
  subject_id uuid NOT NULL,
  "position" integer NOT NULL,
  message jsonb NOT NULL,
  status text NOT NULL DEFAULT 'pending'::text,
  reason text,
  attempts integer NOT NULL DEFAULT 0,
  earlier_attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT destination_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT destination_deliveries_subject_key UNIQUE (organization_id, destination_id, subject_id, "position"),
  CONSTRAINT destination_deliveries_destination_fkey FOREIGN KEY (organization_id, destination_id) REFERENCES destinations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT destination_deliveries_next_check CHECK (((next_attempt_at IS NOT NULL) = (status = 'pending'::text))),
  CONSTRAINT destination_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'superseded'::text])))
);
CREATE INDEX destination_deliveries_list_idx ON public.destination_deliveries USING btree (organization_id, destination_id, id);
CREATE INDEX destination_deliveries_old_idx ON public.destination_deliveries USING btree (organization_id, created_at);
CREATE INDEX destination_deliveries_status_idx ON public.destination_deliveries USING btree (organization_id, destination_id, status, id);

CREATE TABLE destinations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  settings jsonb NOT NULL,
  secret text,
  status text NOT NULL DEFAULT 'active'::text,
  failing_since timestamp(3) with time zone,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT destinations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT destinations_creator_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  CONSTRAINT destinations_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT destinations_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'slack'::text, 'teams'::text, 'pagerduty'::text, 'opsgenie'::text, 'webhook'::text]))),
  CONSTRAINT destinations_secret_check CHECK (((secret IS NULL) = (kind = ANY (ARRAY['email'::text, 'webhook'::text])))),
  CONSTRAINT destinations_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
);

CREATE TABLE embedding_cells (
  organization_id uuid NOT NULL,
  model integer NOT NULL,
  generation integer NOT NULL,
  centers bytea NOT NULL,
  CONSTRAINT embedding_cells_pkey PRIMARY KEY (organization_id, model, generation)
);

CREATE TABLE embedding_models (
  organization_id uuid NOT NULL,
  number integer NOT NULL,
  name text NOT NULL,
  CONSTRAINT embedding_models_pkey PRIMARY KEY (organization_id, number),
  CONSTRAINT embedding_models_name_key UNIQUE (organization_id, name)
);

CREATE TABLE embedding_progress (
  organization_id uuid NOT NULL,
  model integer NOT NULL,
  started_at timestamp(3) with time zone,
  conversation_id uuid,
  is_done boolean NOT NULL DEFAULT false,
  CONSTRAINT embedding_progress_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE evaluation_batches (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  resumes integer NOT NULL,
  model text NOT NULL,
  status text NOT NULL,
  failure text,
  conversation_ids uuid[] NOT NULL,
  requests integer NOT NULL,
  read_at timestamp(3) with time zone NOT NULL,
  reserved_cost double precision NOT NULL,
  reserved_month date NOT NULL,
  file_id text,
  submitting_at timestamp(3) with time zone,
  remote_id text,
  is_certain boolean NOT NULL DEFAULT false,
  other_ids text[] NOT NULL DEFAULT '{}'::text[],
  expires_at timestamp(3) with time zone,
  answered integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  cancelled_at timestamp(3) with time zone,
  read_results integer NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL,
  ended_at timestamp(3) with time zone,
  CONSTRAINT evaluation_batches_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT evaluation_batches_run_fkey FOREIGN KEY (organization_id, run_id) REFERENCES evaluation_runs(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT evaluation_batches_status_check CHECK ((status = ANY (ARRAY['new'::text, 'submitting'::text, 'submitted'::text, 'ended'::text])))
);
CREATE INDEX evaluation_batches_run_idx ON public.evaluation_batches USING btree (organization_id, run_id);

CREATE TABLE evaluation_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  population jsonb NOT NULL,
  status text NOT NULL,
  failure text,
  total integer NOT NULL,
  scored integer NOT NULL DEFAULT 0,
  unscored integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  after_started_at timestamp(3) with time zone,
  after_id uuid,
  waits integer NOT NULL DEFAULT 0,
  resumes integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  batch_phase text,
  sent_started_at timestamp(3) with time zone,
  sent_id uuid,
  CONSTRAINT evaluation_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT evaluation_runs_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version) REFERENCES monitor_versions(organization_id, monitor_id, number) ON DELETE CASCADE,
  CONSTRAINT evaluation_runs_batch_phase_check CHECK ((batch_phase = ANY (ARRAY['sending'::text, 'waiting'::text, 'ended'::text]))),
  CONSTRAINT evaluation_runs_finished_check CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))),
  CONSTRAINT evaluation_runs_kind_check CHECK ((kind = ANY (ARRAY['backfill'::text, 'experiment'::text]))),
  CONSTRAINT evaluation_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX evaluation_runs_monitor_idx ON public.evaluation_runs USING btree (organization_id, monitor_id, id);
CREATE UNIQUE INDEX evaluation_runs_unfinished_key ON public.evaluation_runs USING btree (organization_id, monitor_id) WHERE ((kind = 'backfill'::text) AND (status = ANY (ARRAY['queued'::text, 'running'::text])));

CREATE TABLE experiment_changes (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  CONSTRAINT experiment_changes_pkey PRIMARY KEY (organization_id, experiment_id, id)
);

CREATE TABLE experiment_conversations (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  arm text,
  other_version_id uuid,
  unit_id uuid NOT NULL,
  is_alone boolean NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  company_id uuid,
  direction text,
  added_at timestamp(3) with time zone NOT NULL,
  retried_at timestamp(3) with time zone,
  statuses smallint[] NOT NULL,
  observed double precision[] NOT NULL,
  is_pending boolean NOT NULL,
  CONSTRAINT experiment_conversations_pkey PRIMARY KEY (organization_id, experiment_id, conversation_id),
  CONSTRAINT experiment_conversations_experiment_fkey FOREIGN KEY (organization_id, experiment_id) REFERENCES experiments(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_conversations_arm_check CHECK ((arm = ANY (ARRAY['a'::text, 'b'::text])))
);
CREATE INDEX experiment_conversations_pending_idx ON public.experiment_conversations USING btree (organization_id, experiment_id, added_at) WHERE is_pending;
CREATE INDEX experiment_conversations_unit_idx ON public.experiment_conversations USING btree (organization_id, experiment_id, unit_id, started_at, conversation_id) WHERE (arm IS NOT NULL);

CREATE TABLE experiment_outcomes (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  "position" smallint NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  monitor_name text NOT NULL,
  monitor_kind text NOT NULL,
  is_primary boolean NOT NULL,
  scope jsonb NOT NULL,
  kind text NOT NULL,
  range_low double precision,
  range_high double precision,
  sums json NOT NULL,
  largest_e_value double precision NOT NULL DEFAULT 1,
  least_p double precision NOT NULL DEFAULT 1,
  first_excluded_zero_at timestamp(3) with time zone,
  timeline json NOT NULL DEFAULT '[]'::json,
  measure jsonb,
  CONSTRAINT experiment_outcomes_pkey PRIMARY KEY (organization_id, experiment_id, "position"),
  CONSTRAINT experiment_outcomes_experiment_fkey FOREIGN KEY (organization_id, experiment_id) REFERENCES experiments(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_outcomes_kind_check CHECK ((kind = ANY (ARRAY['boolean'::text, 'numeric'::text])))
);
CREATE INDEX experiment_outcomes_monitor_idx ON public.experiment_outcomes USING btree (organization_id, monitor_id);

CREATE TABLE experiment_runs (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  id uuid NOT NULL,
  trigger text NOT NULL,
  status text NOT NULL,
  failure text,
  total integer NOT NULL DEFAULT 0,
  scored integer NOT NULL DEFAULT 0,
  unscored integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  after_id uuid,
  waits integer NOT NULL DEFAULT 0,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  CONSTRAINT experiment_runs_pkey PRIMARY KEY (organization_id, experiment_id, id),
  CONSTRAINT experiment_runs_experiment_fkey FOREIGN KEY (organization_id, experiment_id) REFERENCES experiments(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_runs_finished_check CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))),
  CONSTRAINT experiment_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  CONSTRAINT experiment_runs_trigger_check CHECK ((trigger = ANY (ARRAY['launch'::text, 'retry'::text])))
);
CREATE UNIQUE INDEX experiment_runs_unfinished_key ON public.experiment_runs USING btree (organization_id, experiment_id, trigger) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE TABLE experiment_splits (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  dimension text NOT NULL,
  value text NOT NULL,
  a integer NOT NULL,
  b integer NOT NULL,
  CONSTRAINT experiment_splits_pkey PRIMARY KEY (organization_id, experiment_id, dimension, value),
  CONSTRAINT experiment_splits_experiment_fkey FOREIGN KEY (organization_id, experiment_id) REFERENCES experiments(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX experiment_splits_size_idx ON public.experiment_splits USING btree (organization_id, experiment_id, dimension, ((a + b)));

CREATE TABLE experiment_units (
  organization_id uuid NOT NULL,
  experiment_id uuid NOT NULL,
  id uuid NOT NULL,
  conversations_a integer NOT NULL,
  conversations_b integer NOT NULL,
  first_arm text NOT NULL,
  first_at timestamp(3) with time zone NOT NULL,
  held json NOT NULL,
  CONSTRAINT experiment_units_pkey PRIMARY KEY (organization_id, experiment_id, id),
  CONSTRAINT experiment_units_experiment_fkey FOREIGN KEY (organization_id, experiment_id) REFERENCES experiments(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT experiment_units_first_arm_check CHECK ((first_arm = ANY (ARRAY['a'::text, 'b'::text])))
);

CREATE TABLE experiments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  agent_id uuid NOT NULL,
  arm_a_version_id uuid NOT NULL,
  arm_b_version_id uuid NOT NULL,
  arm_a_name text,
  arm_b_name text,
  cohort_filters jsonb NOT NULL,
  assignment_unit jsonb NOT NULL,
  expected_arm_a_percent integer,
  monitor_group_id uuid,
  emails text[] NOT NULL,
  alpha double precision NOT NULL,
  tuning_conversations integer NOT NULL,
  status text NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  finished_at timestamp(3) with time zone,
  finished_by_user_id uuid,
  created_by_user_id uuid NOT NULL,
  least_split_p double precision NOT NULL DEFAULT 1,
  alarmed_at timestamp(3) with time zone,
  counted_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT experiments_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT experiments_arm_a_fkey FOREIGN KEY (organization_id, arm_a_version_id) REFERENCES agent_versions(organization_id, id),
  CONSTRAINT experiments_arm_b_fkey FOREIGN KEY (organization_id, arm_b_version_id) REFERENCES agent_versions(organization_id, id),
  CONSTRAINT experiments_group_fkey FOREIGN KEY (organization_id, monitor_group_id) REFERENCES monitor_groups(organization_id, id),
  CONSTRAINT experiments_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT experiments_arms_check CHECK ((arm_a_version_id <> arm_b_version_id)),
  CONSTRAINT experiments_finished_check CHECK (((status = 'finished'::text) = (finished_at IS NOT NULL))),
  CONSTRAINT experiments_status_check CHECK ((status = ANY (ARRAY['running'::text, 'finished'::text])))
);
CREATE INDEX experiments_agent_idx ON public.experiments USING btree (organization_id, agent_id, started_at);
CREATE INDEX experiments_group_idx ON public.experiments USING btree (organization_id, monitor_group_id) WHERE (monitor_group_id IS NOT NULL);

CREATE TABLE export_schedule_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  schedule_id uuid NOT NULL,
  planned_for timestamp(3) with time zone NOT NULL,
  is_manual boolean NOT NULL,
  since timestamp(3) with time zone NOT NULL,
  until timestamp(3) with time zone NOT NULL,
  export_id uuid,
  status text NOT NULL,
  object_key text,
  attempts integer NOT NULL DEFAULT 0,
  error text,
  created_at timestamp(3) with time zone NOT NULL,
  finished_at timestamp(3) with time zone,
  is_moved boolean NOT NULL DEFAULT false,
  CONSTRAINT export_schedule_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT export_schedule_runs_planned_key UNIQUE (organization_id, schedule_id, planned_for),
  CONSTRAINT export_schedule_runs_export_fkey FOREIGN KEY (organization_id, export_id) REFERENCES monitor_exports(organization_id, id),
  CONSTRAINT export_schedule_runs_schedule_fkey FOREIGN KEY (organization_id, schedule_id) REFERENCES export_schedules(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT export_schedule_runs_status_check CHECK ((status = ANY (ARRAY['generating'::text, 'delivering'::text, 'succeeded'::text, 'failed'::text]))),
  CONSTRAINT export_schedule_runs_window_check CHECK ((since < until))
);
CREATE UNIQUE INDEX export_schedule_runs_export_idx ON public.export_schedule_runs USING btree (organization_id, export_id) WHERE (export_id IS NOT NULL);
CREATE INDEX export_schedule_runs_list_idx ON public.export_schedule_runs USING btree (organization_id, schedule_id, id);
CREATE UNIQUE INDEX export_schedule_runs_unfinished_idx ON public.export_schedule_runs USING btree (organization_id, schedule_id) WHERE (status = ANY (ARRAY['generating'::text, 'delivering'::text]));

CREATE TABLE export_schedules (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  config jsonb NOT NULL,
  recurrence jsonb NOT NULL,
  window_rule jsonb NOT NULL,
  settle_minutes integer NOT NULL,
  destination jsonb NOT NULL,
  secret text,
  status text NOT NULL DEFAULT 'active'::text,
  pause_reason text,
  failures integer NOT NULL DEFAULT 0,
  covered_until timestamp(3) with time zone NOT NULL,
  next_run_at timestamp(3) with time zone NOT NULL,
  owner_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT export_schedules_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT export_schedules_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT export_schedules_reason_check CHECK ((((status = 'paused'::text) = (pause_reason IS NOT NULL)) AND (pause_reason = ANY (ARRAY['by_hand'::text, 'failing'::text, 'owner_left'::text])))),
  CONSTRAINT export_schedules_secret_check CHECK ((((destination ->> 'type'::text) = 's3'::text) = (secret IS NOT NULL))),
  CONSTRAINT export_schedules_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text])))
);
CREATE INDEX export_schedules_due_idx ON public.export_schedules USING btree (next_run_at) WHERE (status = 'active'::text);

CREATE TABLE finding_comments (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  finding_id uuid NOT NULL,
  author_user_id uuid NOT NULL,
  body jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  edited_at timestamp(3) with time zone,
  CONSTRAINT finding_comments_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT finding_comments_author_fkey FOREIGN KEY (author_user_id) REFERENCES users(id),
  CONSTRAINT finding_comments_finding_fkey FOREIGN KEY (organization_id, finding_id) REFERENCES findings(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX finding_comments_finding_idx ON public.finding_comments USING btree (organization_id, finding_id, id);

CREATE TABLE finding_conversations (
  organization_id uuid NOT NULL,
  finding_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT finding_conversations_pkey PRIMARY KEY (organization_id, finding_id, conversation_id),
  CONSTRAINT finding_conversations_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT finding_conversations_finding_fkey FOREIGN KEY (organization_id, finding_id) REFERENCES findings(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX finding_conversations_conversation_idx ON public.finding_conversations USING btree (organization_id, conversation_id);

CREATE TABLE finding_moves (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  finding_id uuid NOT NULL,
  kind text NOT NULL,
  by_user_id uuid,
  from_status text NOT NULL,
  to_status text NOT NULL,
  from_priority text NOT NULL,
  to_priority text NOT NULL,
  reason text,
  merged_into_id uuid,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT finding_moves_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT finding_moves_finding_fkey FOREIGN KEY (organization_id, finding_id) REFERENCES findings(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT finding_moves_user_fkey FOREIGN KEY (by_user_id) REFERENCES users(id),
  CONSTRAINT finding_moves_kind_check CHECK ((kind = ANY (ARRAY['triage'::text, 'merge'::text, 'recurrence'::text]))),
  CONSTRAINT finding_moves_merge_check CHECK (((merged_into_id IS NOT NULL) = (kind = 'merge'::text)))
);
CREATE INDEX finding_moves_finding_idx ON public.finding_moves USING btree (organization_id, finding_id, id);

CREATE TABLE findings (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  title text NOT NULL,
  description jsonb,
  status text NOT NULL,
  status_changed_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  priority text NOT NULL,
  tags text[] NOT NULL,
  finding_type smallint NOT NULL,
  assignee_user_id uuid,
  source_kind text NOT NULL,
  source_id uuid,
  created_by_user_id uuid,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  merged_into_id uuid,
  CONSTRAINT findings_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT findings_assignee_fkey FOREIGN KEY (assignee_user_id) REFERENCES users(id),
  CONSTRAINT findings_creator_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  CONSTRAINT findings_merged_fkey FOREIGN KEY (organization_id, merged_into_id) REFERENCES findings(organization_id, id),
  CONSTRAINT findings_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT findings_merged_check CHECK (((merged_into_id IS NULL) OR ((status = 'resolved'::text) AND (merged_into_id <> id)))),
  CONSTRAINT findings_priority_check CHECK ((priority = ANY (ARRAY['none'::text, 'low'::text, 'medium'::text, 'high'::text, 'urgent'::text]))),
  CONSTRAINT findings_source_check CHECK ((source_kind = ANY (ARRAY['manual'::text, 'monitor'::text, 'experiment'::text, 'agent'::text]))),
  CONSTRAINT findings_source_id_check CHECK (((source_id IS NULL) = (source_kind = 'manual'::text))),
  CONSTRAINT findings_status_check CHECK ((status = ANY (ARRAY['open'::text, 'acknowledged'::text, 'resolved'::text, 'ignored'::text]))),
  CONSTRAINT findings_type_check CHECK ((finding_type >= 0))
);
CREATE UNIQUE INDEX findings_agent_key ON public.findings USING btree (organization_id, source_id) WHERE ((source_kind = 'agent'::text) AND (status = ANY (ARRAY['open'::text, 'acknowledged'::text])));
CREATE INDEX findings_assignee_idx ON public.findings USING btree (organization_id, assignee_user_id, id) WHERE (assignee_user_id IS NOT NULL);
CREATE INDEX findings_merged_idx ON public.findings USING btree (organization_id, merged_into_id) WHERE (merged_into_id IS NOT NULL);
CREATE UNIQUE INDEX findings_monitor_key ON public.findings USING btree (organization_id, source_id) WHERE ((source_kind = 'monitor'::text) AND (status = ANY (ARRAY['open'::text, 'acknowledged'::text])));
CREATE INDEX findings_source_idx ON public.findings USING btree (organization_id, source_id, id) WHERE (source_id IS NOT NULL);

CREATE TABLE identities (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT identities_pkey PRIMARY KEY (id),
  CONSTRAINT identities_subject_key UNIQUE (issuer, subject),
  CONSTRAINT identities_user_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX identities_user_idx ON public.identities USING btree (user_id);

CREATE TABLE instance (
  id uuid NOT NULL,
  key_check text,
  seen_at timestamp(3) with time zone,
  trusted_from timestamp(3) with time zone,
  claimed_storage text,
  CONSTRAINT instance_pkey PRIMARY KEY (id)
);

CREATE TABLE integration_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  status text NOT NULL,
  event text,
  reason text,
  conversation_id uuid,
  bytes integer NOT NULL,
  content_type text,
  payload text,
  received_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT integration_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integration_deliveries_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT integration_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'applied'::text, 'unchanged'::text, 'ignored'::text, 'unreadable'::text, 'rejected'::text, 'erased'::text, 'failed'::text])))
);
CREATE INDEX integration_deliveries_conversation_idx ON public.integration_deliveries USING btree (organization_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX integration_deliveries_list_idx ON public.integration_deliveries USING btree (organization_id, integration_id, id);
CREATE INDEX integration_deliveries_old_idx ON public.integration_deliveries USING btree (organization_id, received_at);
CREATE INDEX integration_deliveries_old_payload_idx ON public.integration_deliveries USING btree (organization_id, received_at) WHERE (payload IS NOT NULL);
CREATE INDEX integration_deliveries_status_idx ON public.integration_deliveries USING btree (organization_id, integration_id, status, id);
CREATE INDEX integration_deliveries_untold_idx ON public.integration_deliveries USING btree (organization_id, id) WHERE ((conversation_id IS NULL) AND (payload IS NOT NULL));

CREATE TABLE integration_sync_gaps (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  external_id text NOT NULL,
  state text NOT NULL,
  reason text,
  began_at timestamp(3) with time zone,
  attempts integer NOT NULL,
  tried_at timestamp(3) with time zone NOT NULL,
  next_try_at timestamp(3) with time zone NOT NULL,
  found_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT integration_sync_gaps_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integration_sync_gaps_external_id_key UNIQUE (organization_id, integration_id, external_id),
  CONSTRAINT integration_sync_gaps_sync_fkey FOREIGN KEY (organization_id, integration_id) REFERENCES integration_syncs(organization_id, integration_id) ON DELETE CASCADE,
  CONSTRAINT integration_sync_gaps_state_check CHECK ((state = ANY (ARRAY['unfinished'::text, 'failed'::text])))
);
CREATE INDEX integration_sync_gaps_due_idx ON public.integration_sync_gaps USING btree (organization_id, integration_id, next_try_at);
CREATE INDEX integration_sync_gaps_list_idx ON public.integration_sync_gaps USING btree (organization_id, integration_id, state, id);
CREATE INDEX integration_sync_gaps_old_idx ON public.integration_sync_gaps USING btree (organization_id, found_at);

CREATE TABLE integration_sync_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  integration_id uuid NOT NULL,
  status text NOT NULL,
  reason text,
  until timestamp(3) with time zone NOT NULL,
  window_from timestamp(3) with time zone NOT NULL,
  window_until timestamp(3) with time zone NOT NULL,
  page_cursor text,
  window_listed boolean NOT NULL DEFAULT false,
  pages integer NOT NULL DEFAULT 0,
  pending text[] NOT NULL DEFAULT '{}'::text[],
  waits integer NOT NULL DEFAULT 0,
  listed integer NOT NULL DEFAULT 0,
  stored integer NOT NULL DEFAULT 0,
  filled integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  unfinished integer NOT NULL DEFAULT 0,
  erased integer NOT NULL DEFAULT 0,
  started_at timestamp(3) with time zone NOT NULL,
  ended_at timestamp(3) with time zone,
  CONSTRAINT integration_sync_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integration_sync_runs_sync_fkey FOREIGN KEY (organization_id, integration_id) REFERENCES integration_syncs(organization_id, integration_id) ON DELETE CASCADE,
  CONSTRAINT integration_sync_runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX integration_sync_runs_list_idx ON public.integration_sync_runs USING btree (organization_id, integration_id, id);
CREATE INDEX integration_sync_runs_old_idx ON public.integration_sync_runs USING btree (organization_id, ended_at) WHERE (ended_at IS NOT NULL);
CREATE UNIQUE INDEX integration_sync_runs_running_key ON public.integration_sync_runs USING btree (organization_id, integration_id) WHERE (status = 'running'::text);

CREATE TABLE integration_syncs (
  organization_id uuid NOT NULL,
  integration_id uuid NOT NULL,
  enabled boolean NOT NULL,
  api_key text NOT NULL,
  api_base_url text,
  interval_minutes integer NOT NULL,
  lookback_days integer NOT NULL,
  listed_until timestamp(3) with time zone NOT NULL,
  next_run_at timestamp(3) with time zone NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  paused_reason text,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT integration_syncs_pkey PRIMARY KEY (organization_id, integration_id),
  CONSTRAINT integration_syncs_integration_fkey FOREIGN KEY (organization_id, integration_id) REFERENCES integrations(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX integration_syncs_due_idx ON public.integration_syncs USING btree (next_run_at) WHERE (enabled AND (paused_reason IS NULL));

CREATE TABLE integrations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  provider text NOT NULL,
  name text NOT NULL,
  secret text NOT NULL,
  previous_secret text,
  previous_secret_until timestamp(3) with time zone,
  settings jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT integrations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT integrations_id_key UNIQUE (id),
  CONSTRAINT integrations_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE invitations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  member_id uuid NOT NULL,
  token_hash text NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  accepted_at timestamp(3) with time zone,
  by_operator boolean NOT NULL DEFAULT false,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  invited_by_user_id uuid,
  CONSTRAINT invitations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT invitations_member_key UNIQUE (organization_id, member_id),
  CONSTRAINT invitations_token_hash_key UNIQUE (organization_id, token_hash),
  CONSTRAINT invitations_member_fkey FOREIGN KEY (organization_id, member_id) REFERENCES members(organization_id, id) ON DELETE CASCADE
);

CREATE TABLE job_schedules (
  name text NOT NULL,
  next_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT job_schedules_pkey PRIMARY KEY (name)
);

CREATE TABLE jobs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  payload jsonb NOT NULL,
  state text NOT NULL,
  priority integer NOT NULL,
  singleton_key text,
  due_at timestamp(3) with time zone NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  uncounted integer NOT NULL DEFAULT 0,
  worker_key integer,
  lease_until timestamp(3) with time zone,
  error text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  ended_at timestamp(3) with time zone,
  CONSTRAINT jobs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['delayed'::text, 'waiting'::text, 'active'::text, 'completed'::text, 'dead'::text])))
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=20000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=20000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX jobs_active_idx ON public.jobs USING btree (worker_key) WHERE (state = 'active'::text);
CREATE INDEX jobs_delayed_idx ON public.jobs USING btree (due_at) WHERE (state = 'delayed'::text);
CREATE INDEX jobs_ended_idx ON public.jobs USING btree (state, ended_at, id) WHERE (state = ANY (ARRAY['completed'::text, 'dead'::text]));
CREATE UNIQUE INDEX jobs_singleton_key ON public.jobs USING btree (organization_id, name, singleton_key) WHERE ((attempt = 0) AND (singleton_key IS NOT NULL));
CREATE INDEX jobs_waiting_idx ON public.jobs USING btree (name, organization_id, priority DESC, due_at, id) WHERE (state = 'waiting'::text);

CREATE TABLE judge_requests (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  hour timestamp(3) with time zone NOT NULL,
  model text NOT NULL,
  requests integer NOT NULL,
  failed integer NOT NULL,
  duration_ms bigint NOT NULL,
  within_1s integer NOT NULL,
  within_3s integer NOT NULL,
  within_10s integer NOT NULL,
  within_30s integer NOT NULL,
  last_fault text,
  last_failed_at timestamp(3) with time zone,
  last_answered_at timestamp(3) with time zone,
  CONSTRAINT judge_requests_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT judge_requests_hour_key UNIQUE (organization_id, hour, model),
  CONSTRAINT judge_requests_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE judge_spending (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  judgements bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost double precision NOT NULL,
  reserved_cost double precision NOT NULL DEFAULT 0,
  audio_seconds double precision NOT NULL DEFAULT 0,
  CONSTRAINT judge_spending_pkey PRIMARY KEY (organization_id, month),
  CONSTRAINT judge_spending_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE mails (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  text text NOT NULL,
  sealed boolean NOT NULL,
  status text NOT NULL,
  error text,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL,
  sent_at timestamp(3) with time zone,
  html text,
  CONSTRAINT mails_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT mails_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT mails_sent_check CHECK (((sent_at IS NOT NULL) = (status = 'sent'::text))),
  CONSTRAINT mails_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text, 'kept'::text])))
);
CREATE INDEX mails_old_idx ON public.mails USING btree (organization_id, created_at);

CREATE TABLE members (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  role role NOT NULL,
  joined_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  invited_email text,
  CONSTRAINT members_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT members_user_key UNIQUE (organization_id, user_id),
  CONSTRAINT members_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT members_user_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

CREATE TABLE model_provider_requests (
  organization_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  id uuid NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  leased_until timestamp(3) with time zone,
  tokens integer NOT NULL,
  CONSTRAINT model_provider_requests_pkey PRIMARY KEY (organization_id, provider_id, id),
  CONSTRAINT model_provider_requests_provider_fkey FOREIGN KEY (organization_id, provider_id) REFERENCES model_providers(organization_id, id) ON DELETE CASCADE
);

CREATE TABLE model_providers (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  settings jsonb NOT NULL,
  secret text,
  is_default boolean NOT NULL DEFAULT false,
  limits jsonb NOT NULL,
  prices jsonb NOT NULL,
  fallback_provider_ids uuid[] NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  failing_since timestamp(3) with time zone,
  last_fault text,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT model_providers_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT model_providers_name_key UNIQUE (organization_id, name),
  CONSTRAINT model_providers_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT model_providers_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  CONSTRAINT model_providers_kind_check CHECK ((kind = ANY (ARRAY['openai-compatible'::text, 'anthropic'::text, 'google'::text, 'azure-openai'::text, 'bedrock'::text, 'ollama'::text]))),
  CONSTRAINT model_providers_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
);
CREATE UNIQUE INDEX model_providers_default_key ON public.model_providers USING btree (organization_id) WHERE is_default;

CREATE TABLE monitor_exports (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  operation_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'pending'::text,
  config jsonb NOT NULL,
  since timestamp(3) with time zone NOT NULL,
  until timestamp(3) with time zone NOT NULL,
  created_by_user_id uuid NOT NULL,
  notification_endpoint_id uuid,
  created_at timestamp(3) with time zone NOT NULL,
  enqueued_at timestamp(3) with time zone,
  started_at timestamp(3) with time zone,
  completed_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  is_outdated boolean NOT NULL DEFAULT false,
  row_count integer,
  bytes bigint,
  sha256 text,
  error_code text,
  blob_key text,
  experiment_id uuid,
  schedule_id uuid,
  schedule_name text,
  of_conversations boolean NOT NULL DEFAULT false,
  CONSTRAINT monitor_exports_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT monitor_exports_operation_key UNIQUE (organization_id, operation_id),
  CONSTRAINT monitor_exports_experiment_fkey FOREIGN KEY (organization_id, experiment_id) REFERENCES experiments(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT monitor_exports_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT monitor_exports_completed_check CHECK (((status <> 'completed'::text) OR (ROW(completed_at, expires_at, row_count, bytes, sha256, blob_key) IS NOT NULL))),
  CONSTRAINT monitor_exports_error_check CHECK (((status = 'failed'::text) = (error_code IS NOT NULL))),
  CONSTRAINT monitor_exports_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'expired'::text])))
);
CREATE INDEX monitor_exports_experiment_idx ON public.monitor_exports USING btree (organization_id, experiment_id, id) WHERE (experiment_id IS NOT NULL);
CREATE INDEX monitor_exports_expires_idx ON public.monitor_exports USING btree (organization_id, expires_at) WHERE (status = 'completed'::text);
CREATE INDEX monitor_exports_unfinished_idx ON public.monitor_exports USING btree (organization_id, id) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));

CREATE TABLE monitor_groups (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  monitor_ids uuid[] NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT monitor_groups_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT monitor_groups_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE UNIQUE INDEX monitor_groups_name_key ON public.monitor_groups USING btree (organization_id, lower(name));

CREATE TABLE monitor_results (
  organization_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  call_started_at timestamp(3) with time zone NOT NULL,
  evaluated_at timestamp(3) with time zone NOT NULL,
  score double precision,
  monitor_version integer NOT NULL,
  result smallint,
  status smallint NOT NULL,
  reasoning text,
  evidence jsonb NOT NULL,
  evaluator text NOT NULL,
  input_tokens integer,
  output_tokens integer,
  cost double precision,
  response_ms integer,
  categories text[],
  fields jsonb,
  unsupported_fields text[],
  breakdown jsonb,
  CONSTRAINT monitor_results_pkey PRIMARY KEY (organization_id, monitor_id, call_started_at, conversation_id, monitor_version) INCLUDE (result, status, score, evaluated_at),
  CONSTRAINT monitor_results_reasoning_check CHECK ((length(reasoning) <= 65536)),
  CONSTRAINT monitor_results_result_check CHECK (((((result >= 0) AND (result <= 1)) AND (status = 0)) OR ((result IS NULL) AND (status > 0)))),
  CONSTRAINT monitor_results_status_check CHECK (((status >= 0) AND (status <= 2))),
  CONSTRAINT monitor_results_tokens_check CHECK (((input_tokens IS NULL) = (output_tokens IS NULL)))
) WITH (autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX monitor_results_affected_idx ON public.monitor_results USING btree (organization_id, monitor_id, call_started_at, conversation_id, monitor_version) WHERE (result = 1);
CREATE INDEX monitor_results_categories_idx ON public.monitor_results USING btree (organization_id, monitor_id, call_started_at, conversation_id, monitor_version) INCLUDE (categories) WHERE (categories IS NOT NULL);
CREATE INDEX monitor_results_failed_idx ON public.monitor_results USING btree (organization_id, evaluated_at) WHERE (status = 2);
CREATE INDEX monitor_results_fields_idx ON public.monitor_results USING btree (organization_id, monitor_id, call_started_at, conversation_id, monitor_version) INCLUDE (fields, unsupported_fields) WHERE ((((octet_length((fields)::text) > 800) OR (COALESCE(cardinality(unsupported_fields), 0) > 10)))::integer < 1);
CREATE INDEX monitor_results_long_fields_idx ON public.monitor_results USING btree (organization_id, monitor_id, call_started_at, conversation_id, monitor_version) WHERE ((((octet_length((fields)::text) > 800) OR (COALESCE(cardinality(unsupported_fields), 0) > 10)))::integer = 1);
CREATE INDEX monitor_results_score_idx ON public.monitor_results USING btree (organization_id, monitor_id, score, call_started_at, conversation_id, monitor_version) WHERE (score IS NOT NULL);

CREATE TABLE monitor_spike_states (
  organization_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  next_hour timestamp(3) with time zone NOT NULL,
  detector jsonb NOT NULL,
  finding_id uuid,
  CONSTRAINT monitor_spike_states_pkey PRIMARY KEY (organization_id, monitor_id),
  CONSTRAINT monitor_spike_states_finding_fkey FOREIGN KEY (organization_id, finding_id) REFERENCES findings(organization_id, id),
  CONSTRAINT monitor_spike_states_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version) REFERENCES monitor_versions(organization_id, monitor_id, number) ON DELETE CASCADE
);

CREATE TABLE monitor_versions (
  organization_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  number integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  note text,
  CONSTRAINT monitor_versions_pkey PRIMARY KEY (organization_id, monitor_id, number),
  CONSTRAINT monitor_versions_monitor_fkey FOREIGN KEY (organization_id, monitor_id) REFERENCES monitors(organization_id, id) ON DELETE CASCADE
);

CREATE TABLE monitors (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  kind text NOT NULL,
  enabled boolean NOT NULL,
  scope jsonb NOT NULL,
  sample_percent numeric(5,2) NOT NULL,
  current_version integer NOT NULL,
  deleted_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  require_gain boolean NOT NULL DEFAULT false,
  CONSTRAINT monitors_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT monitors_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT monitors_kind_check CHECK ((kind = ANY (ARRAY['rule'::text, 'judge'::text, 'external'::text, 'scorecard'::text]))),
  CONSTRAINT monitors_sample_percent_check CHECK (((sample_percent >= (0)::numeric) AND (sample_percent <= (100)::numeric)))
);
CREATE UNIQUE INDEX monitors_name_key ON public.monitors USING btree (organization_id, name) WHERE (deleted_at IS NULL);
CREATE INDEX monitors_scorecards_idx ON public.monitors USING btree (organization_id, id) WHERE ((kind = 'scorecard'::text) AND (deleted_at IS NULL));

CREATE TABLE notification_preferences (
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  kinds jsonb NOT NULL,
  incidents text NOT NULL,
  summary text NOT NULL,
  digest_time text NOT NULL,
  digest_weekday text NOT NULL,
  timezone text NOT NULL,
  daily_since timestamp(3) with time zone,
  daily_next_at timestamp(3) with time zone,
  weekly_since timestamp(3) with time zone,
  weekly_next_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT notification_preferences_pkey PRIMARY KEY (organization_id, user_id),
  CONSTRAINT notification_preferences_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT notification_preferences_daily_check CHECK (((daily_since IS NULL) = (daily_next_at IS NULL))),
  CONSTRAINT notification_preferences_incidents_check CHECK ((incidents = ANY (ARRAY['owned'::text, 'all'::text]))),
  CONSTRAINT notification_preferences_summary_check CHECK ((summary = ANY (ARRAY['off'::text, 'daily'::text, 'weekly'::text]))),
  CONSTRAINT notification_preferences_weekly_check CHECK (((weekly_since IS NULL) = (weekly_next_at IS NULL)))
);
CREATE INDEX notification_preferences_daily_idx ON public.notification_preferences USING btree (daily_next_at);
CREATE INDEX notification_preferences_weekly_idx ON public.notification_preferences USING btree (weekly_next_at);

CREATE TABLE notifications (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  kind text NOT NULL,
  event text NOT NULL,
  event_key text NOT NULL,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  actor_user_id uuid,
  in_console boolean NOT NULL,
  emailed boolean NOT NULL,
  digest text,
  created_at timestamp(3) with time zone NOT NULL,
  read_at timestamp(3) with time zone,
  CONSTRAINT notifications_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT notifications_event_key UNIQUE (organization_id, user_id, event_key),
  CONSTRAINT notifications_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT notifications_digest_check CHECK ((digest = ANY (ARRAY['daily'::text, 'weekly'::text]))),
  CONSTRAINT notifications_kind_check CHECK ((kind = ANY (ARRAY['incident'::text, 'assignment'::text, 'mention'::text, 'export'::text, 'review_request'::text, 'invitation'::text])))
);
CREATE INDEX notifications_digest_idx ON public.notifications USING btree (organization_id, user_id, id) WHERE (digest IS NOT NULL);
CREATE INDEX notifications_emailed_idx ON public.notifications USING btree (organization_id, user_id, created_at) WHERE emailed;
CREATE INDEX notifications_list_idx ON public.notifications USING btree (organization_id, user_id, id) WHERE in_console;
CREATE INDEX notifications_old_idx ON public.notifications USING btree (organization_id, created_at);
CREATE INDEX notifications_unread_idx ON public.notifications USING btree (organization_id, user_id, id) WHERE (in_console AND (read_at IS NULL));

CREATE TABLE organizations (
  id uuid NOT NULL,
  name text NOT NULL,
  slug text NOT NULL,
  suspended_at timestamp(3) with time zone,
  monitors boolean NOT NULL,
  observability boolean NOT NULL,
  metrics boolean NOT NULL,
  monitor_exports boolean NOT NULL,
  export_webhooks boolean NOT NULL,
  experiments_v2 boolean NOT NULL,
  phi_mode boolean NOT NULL,
  retention_days integer,
  redaction boolean NOT NULL DEFAULT false,
  monthly_judge_budget numeric(12,2),
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  measure_sound boolean NOT NULL DEFAULT true,
  transcription_model text,
  agent_channel smallint,
  sound_to_models boolean NOT NULL DEFAULT false,
  sound_redaction text,
  seals_originals boolean NOT NULL DEFAULT false,
  embedding_model text,
  CONSTRAINT organizations_pkey PRIMARY KEY (id),
  CONSTRAINT organizations_slug_key UNIQUE (slug),
  CONSTRAINT organizations_agent_channel_check CHECK ((agent_channel = ANY (ARRAY[0, 1]))),
  CONSTRAINT organizations_sound_redaction_check CHECK ((sound_redaction = ANY (ARRAY['none'::text, 'mute'::text, 'beep'::text])))
);

CREATE TABLE otel_spans (
  organization_id uuid NOT NULL,
  trace_id text NOT NULL,
  span_id text NOT NULL,
  conversation_key text,
  span text NOT NULL,
  received_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  unread_key text,
  unread_reason text,
  CONSTRAINT otel_spans_pkey PRIMARY KEY (organization_id, trace_id, span_id),
  CONSTRAINT otel_spans_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE INDEX otel_spans_conversation_idx ON public.otel_spans USING btree (organization_id, conversation_key, received_at) WHERE (conversation_key IS NOT NULL);
CREATE INDEX otel_spans_old_idx ON public.otel_spans USING btree (organization_id, received_at);
CREATE INDEX otel_spans_unread_idx ON public.otel_spans USING btree (organization_id, unread_key, received_at) WHERE (unread_key IS NOT NULL);

CREATE TABLE ownership_rules (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  "position" integer NOT NULL,
  agent_ids uuid[] NOT NULL,
  company_ids uuid[] NOT NULL,
  tags text[] NOT NULL,
  owner_user_id uuid,
  destination_ids uuid[] NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT ownership_rules_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT ownership_rules_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);

CREATE TABLE recording_sounds (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  blob_key text NOT NULL,
  measured jsonb,
  reason text,
  measured_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT recording_sounds_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT recording_sounds_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT recording_sounds_outcome_check CHECK (((measured IS NULL) <> (reason IS NULL)))
);

CREATE TABLE recordings (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  source_url text,
  status text NOT NULL,
  failure text,
  blob_key text,
  content_type text,
  bytes bigint,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  measured_key text,
  original_key text,
  redacted_spans jsonb,
  expires_at timestamp(3) with time zone,
  CONSTRAINT recordings_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT recordings_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT recordings_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'stored'::text, 'failed'::text, 'deleted'::text])))
);
CREATE UNIQUE INDEX recordings_blob_key_idx ON public.recordings USING btree (organization_id, blob_key) WHERE (blob_key IS NOT NULL);
CREATE INDEX recordings_expiring_idx ON public.recordings USING btree (organization_id, expires_at, conversation_id) WHERE (expires_at IS NOT NULL);
CREATE UNIQUE INDEX recordings_original_key_idx ON public.recordings USING btree (organization_id, original_key) WHERE (original_key IS NOT NULL);
CREATE INDEX recordings_processing_idx ON public.recordings USING btree (organization_id, conversation_id) WHERE (status = 'processing'::text);
CREATE INDEX recordings_unmeasured_idx ON public.recordings USING btree (organization_id, conversation_id) WHERE ((redacted_spans IS NULL) AND (measured_key IS DISTINCT FROM COALESCE(blob_key, original_key)));

CREATE TABLE review_judgments (
  organization_id uuid NOT NULL,
  review_id uuid NOT NULL,
  monitor_id uuid NOT NULL,
  monitor_version integer NOT NULL,
  correct_result text NOT NULL,
  comment text,
  superseded boolean NOT NULL DEFAULT false,
  CONSTRAINT review_judgments_pkey PRIMARY KEY (organization_id, review_id, monitor_id, monitor_version),
  CONSTRAINT review_judgments_review_fkey FOREIGN KEY (organization_id, review_id) REFERENCES reviews(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT review_judgments_version_fkey FOREIGN KEY (organization_id, monitor_id, monitor_version) REFERENCES monitor_versions(organization_id, monitor_id, number) ON DELETE CASCADE,
  CONSTRAINT review_judgments_result_check CHECK ((correct_result = ANY (ARRAY['affected'::text, 'not_affected'::text, 'unsure'::text])))
);
CREATE INDEX review_judgments_monitor_idx ON public.review_judgments USING btree (organization_id, monitor_id, monitor_version, review_id);

CREATE TABLE reviews (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  reviewer_user_id uuid NOT NULL,
  status text NOT NULL,
  rating smallint,
  notes text,
  lease_expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  completed_at timestamp(3) with time zone,
  bucket_id uuid,
  adjudicates boolean NOT NULL DEFAULT false,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT reviews_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT reviews_bucket_fkey FOREIGN KEY (organization_id, bucket_id) REFERENCES buckets(organization_id, id),
  CONSTRAINT reviews_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT reviews_reviewer_fkey FOREIGN KEY (reviewer_user_id) REFERENCES users(id),
  CONSTRAINT reviews_completed_check CHECK (((completed_at IS NOT NULL) = (status = 'completed'::text))),
  CONSTRAINT reviews_lease_check CHECK (((lease_expires_at IS NULL) OR ((status = 'in_progress'::text) AND (bucket_id IS NOT NULL)))),
  CONSTRAINT reviews_rating_check CHECK (((rating >= 1) AND (rating <= 5))),
  CONSTRAINT reviews_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'completed'::text, 'skipped'::text])))
);
CREATE UNIQUE INDEX reviews_bucket_key ON public.reviews USING btree (organization_id, bucket_id, conversation_id, reviewer_user_id) WHERE ((bucket_id IS NOT NULL) AND (NOT adjudicates));
CREATE INDEX reviews_completed_idx ON public.reviews USING btree (organization_id, completed_at) INCLUDE (bucket_id) WHERE (completed_at IS NOT NULL);
CREATE INDEX reviews_conversation_idx ON public.reviews USING btree (organization_id, conversation_id);
CREATE INDEX reviews_lease_idx ON public.reviews USING btree (organization_id, reviewer_user_id, lease_expires_at) WHERE (lease_expires_at IS NOT NULL);
CREATE INDEX reviews_open_idx ON public.reviews USING btree (organization_id, bucket_id, conversation_id, reviewer_user_id) WHERE (status = ANY (ARRAY['pending'::text, 'in_progress'::text]));
CREATE INDEX reviews_reviewer_idx ON public.reviews USING btree (organization_id, reviewer_user_id, id);

CREATE TABLE saved_views (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  filter jsonb NOT NULL,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  columns jsonb,
  sort jsonb,
  shared boolean NOT NULL DEFAULT true,
  CONSTRAINT saved_views_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT saved_views_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT saved_views_user_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id)
);
CREATE UNIQUE INDEX saved_views_name_key ON public.saved_views USING btree (organization_id, name) WHERE shared;
CREATE UNIQUE INDEX saved_views_own_name_key ON public.saved_views USING btree (organization_id, created_by_user_id, name) WHERE (NOT shared);

CREATE TABLE service_keys (
  id uuid NOT NULL,
  hash text NOT NULL,
  prefix text NOT NULL,
  name text NOT NULL,
  revoked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT service_keys_pkey PRIMARY KEY (id),
  CONSTRAINT service_keys_hash_key UNIQUE (hash)
);

CREATE TABLE sessions (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  token_hash text NOT NULL,
  active_organization_id uuid,
  ip_address text,
  user_agent text,
  expires_at timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_token_hash_key UNIQUE (token_hash),
  CONSTRAINT sessions_organization_fkey FOREIGN KEY (active_organization_id) REFERENCES organizations(id),
  CONSTRAINT sessions_user_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sessions_expires_idx ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_user_idx ON public.sessions USING btree (user_id);

CREATE TABLE sign_in_attempts (
  key_hash text NOT NULL,
  attempts integer NOT NULL,
  blocked_until timestamp(3) with time zone NOT NULL,
  last_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX sign_in_attempts_last_idx ON public.sign_in_attempts USING btree (last_at);

CREATE TABLE sound_runs (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL DEFAULT 'queued'::text,
  filter jsonb NOT NULL,
  again boolean NOT NULL,
  total integer NOT NULL,
  measured integer NOT NULL DEFAULT 0,
  unmeasurable integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  after_id uuid,
  stored_before timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  failure text,
  created_by_user_id uuid NOT NULL,
  transcribe boolean NOT NULL DEFAULT false,
  CONSTRAINT sound_runs_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT sound_runs_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT sound_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
);
CREATE INDEX sound_runs_unfinished_idx ON public.sound_runs USING btree (organization_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE TABLE topic_builds (
  organization_id uuid NOT NULL,
  model integer NOT NULL,
  number integer NOT NULL,
  mean bytea NOT NULL,
  built_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT topic_builds_pkey PRIMARY KEY (organization_id, model)
);

CREATE TABLE topic_changes (
  organization_id uuid NOT NULL,
  topic_id uuid NOT NULL,
  build integer NOT NULL,
  kind text NOT NULL,
  topic_ids uuid[] NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  CONSTRAINT topic_changes_pkey PRIMARY KEY (organization_id, topic_id, build, kind),
  CONSTRAINT topic_changes_topic_fkey FOREIGN KEY (organization_id, topic_id) REFERENCES topics(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT topic_changes_kind_check CHECK ((kind = ANY (ARRAY['created'::text, 'split'::text, 'merged'::text, 'ended'::text])))
);

CREATE TABLE topics (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  group_id uuid,
  is_group boolean NOT NULL,
  terms text[] NOT NULL,
  label text,
  hidden boolean NOT NULL DEFAULT false,
  model integer,
  center bytea,
  bound double precision,
  created_at timestamp(3) with time zone NOT NULL,
  ended_at timestamp(3) with time zone,
  merged_into_id uuid,
  CONSTRAINT topics_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE transcription_parts (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  key text NOT NULL,
  content jsonb NOT NULL,
  CONSTRAINT transcription_parts_pkey PRIMARY KEY (organization_id, conversation_id, key),
  CONSTRAINT transcription_parts_transcription_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES transcriptions(organization_id, conversation_id) ON DELETE CASCADE
);

CREATE TABLE transcriptions (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'pending'::text,
  model text NOT NULL,
  blob_key text NOT NULL,
  run_id uuid,
  failure text,
  audio_seconds double precision NOT NULL DEFAULT 0,
  cost double precision,
  created_at timestamp(3) with time zone NOT NULL,
  ended_at timestamp(3) with time zone,
  CONSTRAINT transcriptions_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT transcriptions_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT transcriptions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text])))
);
CREATE INDEX transcriptions_failed_idx ON public.transcriptions USING btree (organization_id, ended_at) WHERE (status = 'failed'::text);
CREATE INDEX transcriptions_run_idx ON public.transcriptions USING btree (organization_id, run_id) WHERE (run_id IS NOT NULL);

CREATE TABLE transcripts (
  organization_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  content text NOT NULL,
  content_hash text NOT NULL,
  content_length integer NOT NULL,
  format text,
  unreadable text,
  turn_count integer NOT NULL,
  words tsvector NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  transcribed_by text,
  CONSTRAINT transcripts_pkey PRIMARY KEY (organization_id, conversation_id),
  CONSTRAINT transcripts_conversation_fkey FOREIGN KEY (organization_id, conversation_id) REFERENCES conversations(organization_id, id) ON DELETE CASCADE
);
CREATE INDEX transcripts_words_idx ON public.transcripts USING gin (organization_id, words);

CREATE TABLE users (
  id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  email_verified boolean NOT NULL DEFAULT false,
  image text,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email)
);

CREATE TABLE verifications (
  id uuid NOT NULL,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT verifications_pkey PRIMARY KEY (id)
);
CREATE INDEX verifications_identifier_idx ON public.verifications USING btree (identifier);

CREATE TABLE waiting_recordings (
  organization_id uuid NOT NULL,
  external_id text NOT NULL,
  integration_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  blob_key text NOT NULL,
  content_type text NOT NULL,
  bytes bigint NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT waiting_recordings_pkey PRIMARY KEY (organization_id, external_id),
  CONSTRAINT waiting_recordings_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id)
);
CREATE UNIQUE INDEX waiting_recordings_blob_key_idx ON public.waiting_recordings USING btree (organization_id, blob_key);

CREATE TABLE webhook_attempts (
  organization_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  number integer NOT NULL,
  attempted_at timestamp(3) with time zone NOT NULL,
  duration_ms integer NOT NULL,
  status_code smallint,
  error text,
  answer text,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (organization_id, delivery_id, number),
  CONSTRAINT webhook_attempts_delivery_fkey FOREIGN KEY (organization_id, delivery_id) REFERENCES webhook_deliveries(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT webhook_attempts_outcome_check CHECK (((status_code IS NULL) = (error IS NOT NULL)))
);

CREATE TABLE webhook_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  event_type text NOT NULL,
  body text NOT NULL,
  only_while_member uuid,
  status text NOT NULL DEFAULT 'pending'::text,
  reason text,
  attempts integer NOT NULL DEFAULT 0,
  earlier_attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  conversation_id uuid GENERATED ALWAYS AS (
CASE event_type
    WHEN 'review.completed'::text THEN (((body)::json #>> '{data,conversationId}'::text[]))::uuid
    ELSE NULL::uuid
END) STORED,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_deliveries_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT webhook_deliveries_next_check CHECK (((next_attempt_at IS NOT NULL) = (status = 'pending'::text))),
  CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);
CREATE INDEX webhook_deliveries_conversation_idx ON public.webhook_deliveries USING btree (organization_id, conversation_id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX webhook_deliveries_list_idx ON public.webhook_deliveries USING btree (organization_id, endpoint_id, id);
CREATE INDEX webhook_deliveries_old_idx ON public.webhook_deliveries USING btree (organization_id, created_at);
CREATE INDEX webhook_deliveries_status_idx ON public.webhook_deliveries USING btree (organization_id, endpoint_id, status, id);

CREATE TABLE webhook_endpoints (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  status text NOT NULL DEFAULT 'proposed'::text,
  disabled_reason text,
  secret text NOT NULL,
  previous_secret text,
  previous_secret_until timestamp(3) with time zone,
  approved_by_user_id uuid,
  approved_at timestamp(3) with time zone,
  failing_since timestamp(3) with time zone,
  created_by_user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_endpoints_approver_fkey FOREIGN KEY (approved_by_user_id) REFERENCES users(id),
  CONSTRAINT webhook_endpoints_creator_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id),
  CONSTRAINT webhook_endpoints_organization_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT webhook_endpoints_approval_check CHECK (((status <> 'active'::text) OR (approved_by_user_id IS NOT NULL))),
  CONSTRAINT webhook_endpoints_reason_check CHECK (((disabled_reason IS NOT NULL) = (status = 'disabled'::text))),
  CONSTRAINT webhook_endpoints_secret_check CHECK (((previous_secret IS NULL) = (previous_secret_until IS NULL))),
  CONSTRAINT webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['proposed'::text, 'active'::text, 'disabled'::text])))
);
