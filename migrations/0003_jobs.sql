-- Which worker works on which attempt of which job, written in the transaction that takes the job, so that the
-- jobs of a dead worker are known at once. worker_key names a session advisory lock which that worker holds
-- while it lives; null means that nothing but the heartbeat tells. Local to the coordinator when distributed.
CREATE TABLE job_holders (
  job_id uuid NOT NULL,
  attempt integer NOT NULL,
  job_name text NOT NULL,
  worker_key integer,
  CONSTRAINT job_holders_pkey PRIMARY KEY (job_id, attempt)
);
