CREATE INDEX `notices_by_page` ON `notices` (`organization_id`,`page_id`);--> statement-breakpoint
-- Without statistics SQLite reads an organization's part of a table by its primary key rather than the few
-- rows that such an index leads to (https://sqlite.org/lang_analyze.html, "Manual Control Of Query Plans").
ANALYZE sqlite_schema;
--> statement-breakpoint
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('delivery_alerts', 'delivery_alerts_by_alert', '1000000 10000 2'),
	('maintenance_groups', 'maintenance_groups_by_group', '1000000 10000 2'),
	('maintenance_monitors', 'maintenance_monitors_by_monitor', '1000000 10000 2'),
	('monitor_channels', 'monitor_channels_by_channel', '1000000 10000 2'),
	('monitor_group_channels', 'monitor_group_channels_by_channel', '1000000 10000 2'),
	('open_alerts', 'open_alerts_by_channel', '1000000 10000 2'),
	('open_cases', 'open_cases_by_alert', '1000000 10000 2'),
	('open_cases', 'open_cases_by_subject', '1000000 10000 2'),
	('status_page_monitors', 'status_page_monitors_by_monitor', '1000000 10000 2'),
	('status_page_sections', 'status_page_sections_by_group', '1000000 10000 2');
--> statement-breakpoint
ANALYZE sqlite_schema;
