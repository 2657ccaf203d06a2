ALTER TABLE `forwarded_requests` ADD `answer` text;--> statement-breakpoint
ALTER TABLE `monitors` ADD `confirmations` integer DEFAULT 1 NOT NULL;