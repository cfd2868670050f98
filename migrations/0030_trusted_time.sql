-- What tells a process that it is not what this database was used with before: its clock, its secret key, its files.
ALTER TABLE instance
  ADD COLUMN key_check text,
  ADD COLUMN seen_at timestamptz(3),
  ADD COLUMN trusted_from timestamptz(3),
  ADD COLUMN claimed_storage text;
