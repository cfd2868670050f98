-- Open reviews, to find out who reviews blindly.
CREATE INDEX reviews_open_idx ON reviews (organization_id, bucket_id, conversation_id, reviewer_user_id)
  WHERE status IN ('pending', 'in_progress');
-- Reviews of a period, for digests.
CREATE INDEX reviews_completed_idx ON reviews (organization_id, completed_at) INCLUDE (bucket_id)
  WHERE completed_at IS NOT NULL;
