ALTER TABLE `uptime_days` ADD `latency_counts` text;--> statement-breakpoint
ALTER TABLE `uptime_hours` ADD `latency_counts` text;