-- Conversations to embed are marked with the model 0, and one job of their organization embeds all of them. This replaces
-- jobs with single conversations, which are found again.
DELETE FROM embedding_progress;
DELETE FROM jobs WHERE name = 'embeddings.embed';
