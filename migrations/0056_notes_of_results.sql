-- Whether only results changed, so that sums of the conversations themselves are still right.
ALTER TABLE analytics_changes ADD COLUMN only_results boolean NOT NULL DEFAULT false;
