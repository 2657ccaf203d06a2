ALTER TABLE `people` ADD `wrong_code_since` text;--> statement-breakpoint
ALTER TABLE `people` ADD `wrong_code_from` text;