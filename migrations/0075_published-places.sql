CREATE TABLE `published_places` (
	`root` text NOT NULL,
	`prefix` text NOT NULL,
	`organization_id` text NOT NULL,
	`page_id` text NOT NULL,
	`bucket` text,
	`secrets` text NOT NULL,
	`files` text DEFAULT '{}' NOT NULL,
	`removing_since` text,
	`failing_since` text,
	`last_error` text,
	PRIMARY KEY(`root`, `prefix`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `published_places_by_page` ON `published_places` (`organization_id`,`page_id`);--> statement-breakpoint
INSERT OR IGNORE INTO `published_places` (`root`, `prefix`, `organization_id`, `page_id`, `bucket`, `secrets`, `files`)
	SELECT 'folder', substr(place, 8) || '/', organization_id, page_id, NULL, '{}', files
	FROM `status_page_publishing` WHERE place LIKE 'folder %';--> statement-breakpoint
INSERT OR IGNORE INTO `published_places` (`root`, `prefix`, `organization_id`, `page_id`, `bucket`, `secrets`, `files`)
	SELECT 's3 ' || rtrim(lower(settings ->> '$.s3.endpoint'), '/') || ' ' || (settings ->> '$.s3.bucket'),
		settings ->> '$.s3.prefix', organization_id, page_id, settings -> '$.s3', secrets, files
	FROM `status_page_publishing`
	WHERE place = 's3 ' || (settings ->> '$.s3.endpoint') || ' ' || (settings ->> '$.s3.bucket') || ' ' || (settings ->> '$.s3.prefix');--> statement-breakpoint
ALTER TABLE `status_page_publishing` DROP COLUMN `place`;--> statement-breakpoint
ALTER TABLE `status_page_publishing` DROP COLUMN `files`;
