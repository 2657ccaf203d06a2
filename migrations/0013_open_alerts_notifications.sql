ALTER TABLE `open_alerts` RENAME COLUMN `tellings` TO `notifications`;
